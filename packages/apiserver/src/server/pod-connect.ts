import type { KubeObject } from "@causeway/kubernetes";
import { current, type Call } from "../contract/call.ts";
import type { Response } from "../contract/exchange.ts";
import { apiError, badRequest } from "../errors/status.ts";
import { at, records, text } from "../json/json.ts";
import { SIMULATED } from "../usage/declared.ts";
import { sendText } from "./respond.ts";

/*
 * The subresources of pods that kube-apiserver serves by connecting to the pod's kubelet. Of simulated nodes it is
 * known that no program runs there, and the answer says so. Other kubelets are connected to if the cluster has networks
 * of nodes. Source: Kubernetes API reference, Pod log, exec, attach, portforward.
 */

const CONNECTED = new Set(["log", "exec", "attach", "portforward"]);
/** The annotation of pods with what `kubectl logs` prints for them. */
const LOGS = "simulated.causeway.dev/logs";
/** A log is no longer than this, in characters. */
const LONGEST = 1024 * 1024;

/** Whether a request is for log, exec, attach or portforward of a pod. */
export function isPodConnect({ resource, subresource }: Call): boolean {
  return resource.storage === "/pods" && CONNECTED.has(subresource);
}

/** Answers with the log that an annotation declares, or by the pod's kubelet. Throws 400, 404, 429 and 503. */
export async function connectPod(call: Call, query: URLSearchParams, response: Response): Promise<void> {
  const pod = current(call).object;
  const container = call.subresource === "portforward" ? "" : containerOf(call, pod, query.get("container") ?? "");
  const nodeName = text(at(pod, "spec", "nodeName"));
  if (nodeName === "") {
    if (call.subresource !== "log") throw badRequest(`pod ${call.name} does not have a host assigned`);
    return sendText(response, 200, { type: "text/plain", body: "" });
  }
  const node = nodeOf(call, nodeName);
  if (node?.metadata.labels?.[SIMULATED] !== "true") {
    if (!node || !call.cluster.kubelets) throw apiError(503, "ServiceUnavailable", unreachable(call, nodeName));
    const { askKubelet } = await import("./kubelet-request.ts");
    return askKubelet(call, { pod, node, container }, { query, response });
  }
  const declared = pod.metadata.annotations?.[LOGS];
  if (call.subresource === "log" && declared !== undefined) {
    return sendText(response, 200, { type: "text/plain", body: partOf(declared, query) });
  }
  throw badRequest(explanation(call, nodeName, container));
}

/** The container that is named, or the only one. */
function containerOf({ name }: Call, pod: KubeObject, asked: string): string {
  const namesOf = (field: string) => records(at(pod, "spec", field)).map((each) => text(each["name"]));
  const containers = namesOf("containers");
  const others = namesOf("initContainers");
  if (asked !== "") {
    if ([...containers, ...others, ...namesOf("ephemeralContainers")].includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${name}`);
  }
  const [only = ""] = containers;
  if (containers.length === 1) return only;
  const choice = `a container name must be specified for pod ${name}, choose one of: [${containers.join(" ")}]`;
  throw badRequest(others.length === 0 ? choice : `${choice} or one of the init containers: [${others.join(" ")}]`);
}

function nodeOf({ cluster }: Call, name: string): KubeObject | undefined {
  return cluster.store.get({ cluster: cluster.name, resource: "/nodes", namespace: "", name })?.object;
}

function unreachable({ namespace, name, subresource }: Call, node: string): string {
  return `error dialing backend: this server does not connect to kubelets, so ${subresource} of pod ${namespace}/${name} on node ${node} is not available`;
}

function explanation({ namespace, name, subresource }: Call, node: string, container: string): string {
  const simulated = `node ${node} is simulated`;
  if (subresource === "log") {
    return `${simulated}: container ${container} of pod ${namespace}/${name} runs no program and writes no log; set annotation ${LOGS} of the pod to what kubectl logs should print`;
  }
  const what = subresource === "portforward" ? "listens on no port" : "runs no program";
  const whose = container === "" ? "pod" : `container ${container} of pod`;
  return `${simulated}: ${whose} ${namespace}/${name} ${what}, so ${subresource} is not possible; use a real node`;
}

/** What tailLines and limitBytes leave of a log. */
function partOf(declared: string, query: URLSearchParams): string {
  const whole = declared.slice(0, LONGEST);
  const ended = whole === "" || whole.endsWith("\n") ? whole : `${whole}\n`;
  const tail = count(query.get("tailLines"));
  const lines = ended.split("\n").slice(0, -1);
  const kept = tail === undefined ? lines : tail === 0 ? [] : lines.slice(-tail);
  const body = kept.map((line) => `${line}\n`).join("");
  const limit = count(query.get("limitBytes"));
  return limit === undefined ? body : Buffer.from(body).subarray(0, limit).toString();
}

function count(value: string | null): number | undefined {
  return value !== null && /^\d{1,9}$/.test(value) ? Number(value) : undefined;
}
