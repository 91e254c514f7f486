import type { KubeObject } from "@causeway/kubernetes";
import type { Call } from "../contract/call.ts";
import { array, fields, text } from "../json/json.ts";
import { wireGateOf } from "../registry/admit.ts";

/*
 * Admission of connections to pods: webhooks and policies see operation CONNECT with the options of the request as its
 * object, and may change them. A log is read, not connected to. Source: Kubernetes API reference, PodExecOptions,
 * PodAttachOptions, PodPortForwardOptions.
 */

const KINDS: Readonly<Record<string, string>> = {
  exec: "PodExecOptions",
  attach: "PodAttachOptions",
  portforward: "PodPortForwardOptions",
};
const FLAGS = ["stdin", "stdout", "stderr", "tty"];

/** What admission leaves of the options: the query itself where nothing has changed them. Throws Status errors. */
export async function admitConnect(call: Call, query: URLSearchParams): Promise<URLSearchParams> {
  const kind = KINDS[call.subresource];
  if (kind === undefined) return query;
  const { mutate, validate } = wireGateOf(call, "CONNECT", { group: "", version: "v1", kind });
  if (!mutate && !validate) return query;
  const given = optionsOf(kind, query);
  const admitted = (await mutate?.(given, undefined)) ?? given;
  await validate?.(admitted, undefined);
  return admitted === given ? query : queryOf(admitted);
}

function optionsOf(kind: string, query: URLSearchParams): KubeObject {
  const flags = FLAGS.filter((name) => isSet(query, name)).map((name) => [name, true] as const);
  const container = query.get("container") ?? "";
  const options =
    kind === "PodPortForwardOptions"
      ? { ports: portsOf(query) }
      : {
          ...Object.fromEntries(flags),
          ...(container === "" ? {} : { container }),
          ...(kind === "PodExecOptions" ? { command: query.getAll("command") } : {}),
        };
  return { kind, apiVersion: "v1", ...options } as unknown as KubeObject;
}

function portsOf(query: URLSearchParams): number[] {
  const named = query.getAll("ports").flatMap((ports) => ports.split(","));
  return named.filter((port) => /^\d{1,5}$/.test(port)).map(Number);
}

/** The query of options that admission has changed. */
function queryOf(options: KubeObject): URLSearchParams {
  const { container, command, ports, ...rest } = fields(options);
  const query = new URLSearchParams();
  for (const name of FLAGS) if (rest[name] === true) query.set(name, "true");
  if (text(container) !== "") query.set("container", text(container));
  for (const word of array(command)) query.append("command", text(word));
  for (const port of array(ports)) query.append("ports", String(port));
  return query;
}

/** Whether a flag of a query is true, as kube-apiserver reads it. */
export function isSet(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && !/^(0|f|false)$/i.test(value) && value !== "";
}
