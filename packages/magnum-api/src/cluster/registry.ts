import type { MagnumCluster, NodePool } from "@causeway/api";

/** Where containerd reads how a registry is reached, at each pull: a folder for each of them. */
const FOLDER = "/etc/containerd/certs.d";
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?(?::\d{1,5})?$/;

/** A registry that a node can use: the value becomes part of a path and of a file, so that it is a name and a port. */
export const isRegistry = (value: string): boolean => NAME.test(value);

/**
 * The file by which the nodes of a cluster pull from the template's insecure registry: by HTTPS with any certificate,
 * and by HTTP where that is not spoken. Undefined: the template has none. A cluster from before nodes had it keeps its
 * nodes as they are.
 * @see https://github.com/containerd/containerd/blob/main/docs/hosts.md
 */
export function registryBootstrap({ spec }: MagnumCluster): NodePool["bootstrap"] {
  const { insecureRegistry = "" } = spec.template;
  if (spec.nodeRegistry !== true || !isRegistry(insecureRegistry)) return undefined;
  const host = (scheme: string, more: string) =>
    `\n[host."${scheme}://${insecureRegistry}"]\n  capabilities = ["pull", "resolve"]\n${more}`;
  const content = `server = "https://${insecureRegistry}"\n${host("https", "  skip_verify = true\n")}${host("http", "")}`;
  const path = `${FOLDER}/${insecureRegistry}/hosts.toml`;
  return { files: [{ path, owner: "root:root", permissions: "0644", content }], commands: [] };
}

/** Files and commands of both; undefined: neither has any. */
export function together(a: NodePool["bootstrap"], b: NodePool["bootstrap"]): NodePool["bootstrap"] {
  if (a === undefined || b === undefined) return a ?? b;
  return { files: [...a.files, ...b.files], commands: [...a.commands, ...b.commands] };
}
