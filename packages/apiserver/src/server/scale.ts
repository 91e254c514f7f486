import type { KubeObject } from "@causeway/kubernetes";
import { at, isRecord, record, text, type Json } from "../json.ts";
import { seen, type Draft, type ScalePaths } from "../kinds/resource.ts";
import { applyJsonPatch, applyMergePatch } from "../patch/index.ts";
import { read, type Call } from "../registry/call.ts";
import { patchTypeOf } from "../registry/patch.ts";
import { selectorText } from "../registry/selectors.ts";
import { wireGateOf, type Gate } from "../registry/admit.ts";
import type { Stored } from "../store/index.ts";
import { change, refuseUnreadable, type Changed } from "../registry/update.ts";
import { decodingProblem } from "../wire/decode.ts";
import { mediaType } from "./body.ts";
import { invalidValue } from "./problems.ts";
import type { ResourceRequest } from "./resources.ts";
import { badRequest, invalid } from "./status.ts";

/** Reads or writes the scale subresource: autoscaling/v1 Scale over the paths of the kind. */
export async function scaleRequest(call: Call, request: ResourceRequest): Promise<Json> {
  const scale = call.version.subresources?.find((s) => s.name === "scale")?.scale;
  if (!scale) throw badRequest(`${call.resource.kind} has no scale`);
  const { verb } = request.info;
  if (verb === "get") return scaleOf((await read(call)).object, scale);
  const target = { ...call, subresource: "", managedAs: "scale" };
  if (verb === "update") refuseUnreadableScale(call, record(request.body));
  const make = (old: Stored): Changed => {
    const wanted = verb === "update" ? record(request.body) : patchedScale(request, scaleOf(old.object, scale));
    const resourceVersion = text(at(wanted, "metadata", "resourceVersion"));
    refuseUnreadable(resourceVersion);
    const replicas = at(wanted, "spec", "replicas") ?? 0;
    if (typeof replicas !== "number" || !Number.isInteger(replicas) || replicas < 0) {
      const type = { group: "autoscaling", kind: "Scale" };
      throw invalid(type, call.name, [invalidValue("spec.replicas", replicas, "must be greater than or equal to 0")]);
    }
    const draft = structuredClone(old.object) as Draft;
    if (resourceVersion) draft.metadata.resourceVersion = resourceVersion;
    else delete draft.metadata.resourceVersion;
    write(draft, scale.specReplicas, replicas);
    return { draft, tracked: false };
  };
  return scaleOf(await seen(call, await change(target, make, scaleGate(call, scale))), scale);
}

/** Bodies are read before the object is looked for. The reader of custom kinds' scales does not know its own words. */
function refuseUnreadableScale({ cluster, resource }: Call, body: Json): void {
  const problem = decodingProblem(cluster.catalog.tables, { ...body, apiVersion: "autoscaling/v1", kind: "Scale" });
  if (problem === undefined) return;
  if (resource.custom) {
    throw badRequest('no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:110"');
  }
  throw badRequest(`Scale in version "v1" cannot be handled as a Scale: ${problem}`);
}

/** Admission is asked about the Scale, not about the object whose scale it is. */
function scaleGate(call: Call, scale: ScalePaths): Gate {
  const { mutate, validate } = wireGateOf(call, "UPDATE");
  const shown = (object: KubeObject | undefined): KubeObject | undefined =>
    object && (scaleOf(object, scale) as unknown as KubeObject);
  return {
    ...(mutate
      ? {
          async mutate(draft, old) {
            const before = shown(draft);
            const after = await mutate(before, shown(old));
            const replicas = at(after, "spec", "replicas");
            if (!after || replicas === at(before, "spec", "replicas")) return draft;
            const scaled = structuredClone(draft);
            write(scaled, scale.specReplicas, replicas);
            return scaled;
          },
        }
      : {}),
    ...(validate ? { validate: (draft, old) => validate(shown(draft), shown(old)) } : {}),
  };
}

function patchedScale(request: ResourceRequest, scale: Json): Json {
  const type = patchTypeOf(mediaType(request.contentType));
  if (type === "json") return record(applyJsonPatch(scale, request.body as never));
  if (!isRecord(request.body)) throw badRequest("the patch must be an object");
  const before = record(scale["metadata"])["resourceVersion"];
  const patched = record(applyMergePatch(scale, request.body));
  const metadata = record(patched["metadata"]);
  if (metadata["resourceVersion"] === before && record(request.body["metadata"])["resourceVersion"] === undefined) {
    return { ...patched, metadata: { ...metadata, resourceVersion: undefined } };
  }
  return patched;
}

function scaleOf(object: KubeObject, scale: ScalePaths): Json {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = scale.labelSelector ? at(object, ...scale.labelSelector) : undefined;
  const replicas = at(object, ...scale.specReplicas);
  const shown = typeof selector === "string" ? selector : selectorText(selector);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    // None are told by saying nothing.
    spec: replicas ? { replicas } : {},
    status: { replicas: at(object, ...scale.statusReplicas) ?? 0, ...(shown ? { selector: shown } : {}) },
  };
}

function write(draft: Json, path: readonly string[], value: unknown): void {
  let here = draft;
  for (const name of path.slice(0, -1)) {
    const next = record(here[name]);
    here[name] = next;
    here = next;
  }
  here[path.at(-1) ?? ""] = value;
}
