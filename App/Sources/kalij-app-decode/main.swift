import Glibc

exit(Decoder.run())
