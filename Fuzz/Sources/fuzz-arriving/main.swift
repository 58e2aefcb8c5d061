import FuzzDriver

fuzz(.arriving)
