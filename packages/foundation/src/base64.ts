/** UTF-8 text in base64, as Secrets, kubeconfigs and etcd's JSON API have it. */
export function base64(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}
