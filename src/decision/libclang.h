/* The functions of libclang that are used. The library is large, so it is loaded when it is needed. */
#ifndef NTR_DECISION_LIBCLANG_H
#define NTR_DECISION_LIBCLANG_H

#include <clang-c/Index.h>

/* NTR_CLANG(name): a function clang_<name>. */
#define NTR_CLANG_FUNCTIONS                                                                                            \
    NTR_CLANG(createIndex)                                                                                             \
    NTR_CLANG(disposeIndex)                                                                                            \
    NTR_CLANG(parseTranslationUnit2)                                                                                   \
    NTR_CLANG(disposeTranslationUnit)                                                                                  \
    NTR_CLANG(getTranslationUnitCursor)                                                                                \
    NTR_CLANG(getNumDiagnostics)                                                                                       \
    NTR_CLANG(getDiagnostic)                                                                                           \
    NTR_CLANG(getDiagnosticSeverity)                                                                                   \
    NTR_CLANG(formatDiagnostic)                                                                                        \
    NTR_CLANG(disposeDiagnostic)                                                                                       \
    NTR_CLANG(getClangVersion)                                                                                         \
    NTR_CLANG(getCString)                                                                                              \
    NTR_CLANG(disposeString)                                                                                           \
    NTR_CLANG(visitChildren)                                                                                           \
    NTR_CLANG(getCursorKind)                                                                                           \
    NTR_CLANG(equalCursors)                                                                                            \
    NTR_CLANG(getCursorType)                                                                                           \
    NTR_CLANG(getCursorSpelling)                                                                                       \
    NTR_CLANG(getCursorReferenced)                                                                                     \
    NTR_CLANG(Cursor_isFunctionInlined)                                                                                \
    NTR_CLANG(getCanonicalType)                                                                                        \
    NTR_CLANG(isVolatileQualifiedType)                                                                                 \
    NTR_CLANG(Type_getSizeOf)                                                                                          \
    NTR_CLANG(getEnumDeclIntegerType)                                                                                  \
    NTR_CLANG(getTypeDeclaration)                                                                                      \
    NTR_CLANG(hashCursor)                                                                                              \
    NTR_CLANG(getCursorExtent)                                                                                         \
    NTR_CLANG(getCursorLocation)                                                                                       \
    NTR_CLANG(getRangeStart)                                                                                           \
    NTR_CLANG(getRangeEnd)                                                                                             \
    NTR_CLANG(getExpansionLocation)                                                                                    \
    NTR_CLANG(getSpellingLocation)                                                                                     \
    NTR_CLANG(getPresumedLocation)                                                                                     \
    NTR_CLANG(Location_isInSystemHeader)                                                                               \
    NTR_CLANG(getFileName)                                                                                             \
    NTR_CLANG(getFileContents)                                                                                         \
    NTR_CLANG(getCursorBinaryOperatorKind)                                                                             \
    NTR_CLANG(getCursorUnaryOperatorKind)                                                                              \
    NTR_CLANG(Cursor_Evaluate)                                                                                         \
    NTR_CLANG(EvalResult_getKind)                                                                                      \
    NTR_CLANG(EvalResult_getAsLongLong)                                                                                \
    NTR_CLANG(EvalResult_dispose)

typedef struct ntr_libclang {
    void *library;
#define NTR_CLANG(name) __typeof__(clang_##name) *name;
    NTR_CLANG_FUNCTIONS
#undef NTR_CLANG
} ntr_libclang;

/* Loads the newest libclang that has all functions. Returns whether one was found. */
bool ntr_libclang_load(ntr_libclang *clang);
void ntr_libclang_unload(ntr_libclang *clang);

#endif
