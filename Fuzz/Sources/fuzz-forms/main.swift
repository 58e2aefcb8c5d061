import FuzzDriver

fuzz(.forms)
