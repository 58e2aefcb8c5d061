import FuzzDriver

fuzz(.queryCompiler)
