/** "NAME/UID", as `--from` takes it, of a control plane's folder in the store: "NAMESPACE/NAME/UID". */
export function fromOfFolder(folder: string): string {
  return folder.slice(folder.indexOf("/") + 1);
}
