/* Removal of a folder. */
#ifndef NTR_BUNDLE_REMOVE_H
#define NTR_BUNDLE_REMOVE_H

/* Remove a folder of files, two levels deep. */
void ntr_bundle_remove(const char *folder);

#endif
