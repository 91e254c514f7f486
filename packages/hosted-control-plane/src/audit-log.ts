/** Megabytes of one file, and the number of older files that are kept. */
const [MEGABYTES, FILES] = [100, 4];
/** What all of them take at most: those that are kept, the one that is written, and one more while they rotate. */
export const AUDIT_LOG_MEGABYTES = MEGABYTES * (FILES + 2);

/** The flags by which kube-apiserver writes audit events to a file, and bounds what all its files take. */
export function auditLogArgs(file: string): string[] {
  return [`--audit-log-path=${file}`, `--audit-log-maxsize=${MEGABYTES}`, `--audit-log-maxbackup=${FILES}`];
}
