import FuzzDriver

fuzz(.texts)
