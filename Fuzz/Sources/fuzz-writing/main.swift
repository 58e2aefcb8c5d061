import FuzzDriver

fuzz(.writing)
