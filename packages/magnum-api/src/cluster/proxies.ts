import type { MagnumCluster, NodePool } from "@causeway/api";
import type { LabelSettings } from "./labels.ts";

/** Where containerd's unit reads what it is started with. */
const DROP_IN = "/etc/systemd/system/containerd.service.d/http-proxy.conf";
/** What no proxy leads to. */
const INSIDE = ["localhost", "127.0.0.1", "::1", ".svc", ".cluster.local"];

const USER = String.raw`[\w.~!&*+,;=%-]+(?::[\w.~!&*+,;=%-]*)?@`;
const HOST = String.raw`(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)`;
const PROXY = new RegExp(String.raw`^(?:https?:\/\/)?(?:${USER})?${HOST}(?::\d{1,5})?\/?$`);
const PLACE = /^[A-Za-z0-9.*:_/[\]-]+$/;

const wordsOf = (text: string): readonly string[] => text.split(/[\s,]+/).filter((word) => word !== "");

/** A proxy that a node can use: the value becomes part of a file of the node, so that it is nothing but an address. */
export const isProxy = (value: string): boolean => PROXY.test(value);
/** Names, addresses and networks. */
export const isProxyBypass = (value: string): boolean => wordsOf(value).every((word) => PLACE.test(word));

/**
 * Files and commands by which the nodes of a cluster pull images through the template's proxies; undefined: it has
 * none. What is inside of the cluster is reached without them. A cluster from before nodes had them keeps its nodes as
 * they are.
 */
export function proxyBootstrap(
  { spec }: MagnumCluster,
  { nodeCidr, podCidr, serviceCidr }: Pick<LabelSettings, "nodeCidr" | "podCidr" | "serviceCidr">,
): NodePool["bootstrap"] {
  const { httpProxy = "", httpsProxy = "", noProxy = "" } = spec.template;
  const given = Object.entries({ HTTP_PROXY: httpProxy, HTTPS_PROXY: httpsProxy }).filter(
    ([, value]) => value !== "" && isProxy(value),
  );
  if (spec.nodeProxies !== true || given.length === 0) return undefined;
  // Of a network that exists, the nodes' addresses are not known.
  const own = spec.fixedNetwork === undefined ? [nodeCidr, podCidr, serviceCidr] : [podCidr, serviceCidr];
  const bypass = [...new Set([...INSIDE, ...own, ...(isProxyBypass(noProxy) ? wordsOf(noProxy) : [])])];
  const lines = [...given, ["NO_PROXY", bypass.join(",")] as const].map(([name, value]) => environment(name, value));
  return {
    files: [{ path: DROP_IN, owner: "root:root", permissions: "0600", content: `[Service]\n${lines.join("")}` }],
    commands: ["systemctl daemon-reload && systemctl try-restart containerd"],
  };
}

/** A percent sign, as in an encoded password, is written twice in units. */
const environment = (name: string, value: string): string => `Environment="${name}=${value.replaceAll("%", "%%")}"\n`;
