import { issueToken } from "../auth/token-request.ts";
import { current, type Call } from "../contract/call.ts";
import { at, copied, record, records, text, timestamp, type Json } from "../json/json.ts";
import type { Draft } from "../contract/resource.ts";
import { seen } from "../contract/resource.ts";
import type { KubeObject } from "@causeway/kubernetes";
import { admitted, OPEN } from "../registry/admit.ts";
import type { Stored } from "../store/index.ts";
import { change, update, type Changed } from "../registry/update.ts";
import { evict } from "./eviction.ts";
import type { ResourceRequest } from "./resource-request.ts";
import { badRequest, conflict, noSuchResource } from "../errors/status.ts";

interface Special {
  readonly code: number;
  readonly body: unknown;
}

/** Subresources whose bodies or rules are their own; undefined for those that act like the object itself. */
export async function subresourceRequest(
  call: Call,
  request: Pick<ResourceRequest, "body">,
): Promise<Special | undefined> {
  switch (`${call.resource.kind}/${call.subresource}`) {
    case "ServiceAccount/token":
      return { code: 201, body: await issueToken(call, await admitted(call, request.body as KubeObject)) };
    case "Namespace/finalize":
      return { code: 200, body: await finalize(call, request.body) };
    case "Pod/eviction":
      return evict(call, request.body);
    case "Binding/":
      return bindByName(call, request.body);
    case "Pod/binding":
      return bind(call, request.body);
    default:
      return undefined;
  }
}

/** The finalize subresource of Namespaces changes spec.finalizers. */
async function finalize(call: Call, body: unknown): Promise<unknown> {
  return seen(call, (await update(call, body)).object);
}

const SUCCESS: Json = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" };

/** The same of a pod that the body names. */
function bindByName(call: Call, body: unknown): Promise<Special> {
  const pods = call.cluster.catalog.find("", "v1", "pods");
  if (!pods) throw noSuchResource();
  return bind({ ...call, ...pods, name: text(at(body, "metadata", "name")), subresource: "binding" }, body);
}

/** What a scheduler says: this pod runs on that node. */
async function bind(call: Call, body: unknown): Promise<Special> {
  const binding = await admitted(call, body as KubeObject);
  const node = text(at(binding, "target", "name"));
  if (!node) throw badRequest("target.name is required");
  const pod = current(call).object;
  if (text(at(pod, "spec", "nodeName"))) {
    throw conflict(
      call.resource,
      call.name,
      `pod ${call.name} is already assigned to node "${text(at(pod, "spec", "nodeName"))}"`,
    );
  }
  const now = timestamp(call.cluster.clock.now());
  const make = ({ object }: Stored): Changed => {
    const draft = copied(object) as Draft;
    record(draft["spec"])["nodeName"] = node;
    const status = record(draft["status"]);
    const others = records(status["conditions"]).filter((c) => c["type"] !== "PodScheduled");
    const scheduled = { type: "PodScheduled", status: "True", lastProbeTime: null, lastTransitionTime: now };
    draft["status"] = { ...status, conditions: [...others, scheduled] };
    return { draft, tracked: false };
  };
  await change(call, make, OPEN);
  return { code: 201, body: { ...SUCCESS, code: 201 } };
}
