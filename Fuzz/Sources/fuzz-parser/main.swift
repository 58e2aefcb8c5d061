import FuzzDriver

fuzz(.parser)
