#define JVERSION "4"
#define JCOPYRIGHT "The libjpeg-turbo Project, Mozilla, and many others"
#define JCOPYRIGHT_SHORT JCOPYRIGHT
