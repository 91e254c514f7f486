import type { KubeObject } from "@causeway/kubernetes";
import { at, copied, record, timestamp, type Json } from "../json/json.ts";
import { define } from "../contract/define.ts";
import { seen, type Draft, type ResourceVersion, type ScalePaths } from "../contract/resource.ts";
import { NO_FIELDS, trackUpdate, type Typed } from "../patch/index.ts";
import { wireGateOf, type Gate } from "../registry/admit.ts";
import { draftOf } from "../registry/body.ts";
import { read, type Call } from "../contract/call.ts";
import { checkIdentity, refuseOtherName } from "../registry/identity.ts";
import { appliedConfiguration, laid, namesRevision, patchedBy, patchTypeOf, readApplied } from "../registry/patch.ts";
import { selectorText } from "../contract/selectors.ts";
import { change, type Changed } from "../registry/update.ts";
import type { Stored } from "../store/index.ts";
import { mediaType } from "./body.ts";
import { invalidValue } from "../errors/problems.ts";
import { isTrue } from "../contract/request-info.ts";
import type { ResourceRequest } from "./resource-request.ts";
import { ownedScale, withScaleOwners } from "./scale-owners.ts";
import { apiError, badRequest, conflict, invalid } from "../errors/status.ts";

type ScaleRequest = Pick<ResourceRequest, "info" | "query" | "body" | "contentType">;

/** Reads or writes the scale subresource: autoscaling/v1 Scale over the paths of the kind. */
export async function scaleRequest(call: Call, request: ScaleRequest): Promise<Json> {
  const scale = call.version.subresources?.find((s) => s.name === "scale")?.scale;
  if (!scale) throw badRequest(`${call.resource.kind} has no scale`);
  const { verb } = request.info;
  if (verb === "get") return shownScale(call, (await read(call)).object, scale);
  const writer = verb === "update" ? replacing(call, request.body) : patching(call, request);
  const make = ({ object }: Stored): Changed => {
    const { wanted, owned } = writer(object, scale);
    const draft = copied(object) as Draft;
    const { resourceVersion } = wanted.metadata;
    if (resourceVersion) draft.metadata.resourceVersion = resourceVersion;
    else delete draft.metadata.resourceVersion;
    write(draft, scale.specReplicas, wantedReplicas(call, { wanted, object, scale }));
    return { draft: withScaleOwners(call, { object: draft, scale: owned, paths: scale }), tracked: true };
  };
  const target: Call = { ...call, subresource: "", isScale: true };
  return scaleOf(await seen(call, await change(target, make, scaleGate(call, scale))), scale);
}

/** A Scale as a writer wants it, and the same with its owners. */
interface Wanted {
  readonly wanted: KubeObject;
  readonly owned: KubeObject;
}

type Writer = (object: KubeObject, scale: ScalePaths) => Wanted;

const SCALE = define({ kind: "Scale", plural: "scales", group: "autoscaling" });
const [SCALE_VERSION] = SCALE.versions as [ResourceVersion];
/** The placeholder of a number of replicas that an object does not have, while its scale is patched. */
const NONE = -(2 ** 31);

/** The call as one on a Scale. */
function scaleCall(call: Call): Call {
  const { otherForms: _, ...rest } = call;
  const resource = { ...SCALE, namespaced: call.resource.namespaced };
  return { ...rest, resource, version: SCALE_VERSION };
}

/** A body is read before the object is read. The reader of custom kinds' scales does not know its own words. */
function replacing(call: Call, body: unknown): Writer {
  const unread = (): Error =>
    badRequest('no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:110"');
  const sent = readScale(call, body, unread);
  refuseOtherName(call, sent.metadata.name);
  return (object, scale) => {
    checkIdentity(call, sent.metadata.uid, object);
    return { wanted: sent, owned: updated(call, { object, scale, wanted: sent }) };
  };
}

function readScale(call: Call, body: unknown, unread: () => Error): Draft {
  if (!call.resource.custom) return draftOf(scaleCall(call), body);
  return draftOf(scaleCall(call), body, { refuse: unread, refuseKind: unread });
}

function patching(call: Call, request: ScaleRequest): Writer {
  const type = patchTypeOf(mediaType(request.contentType)) ?? "merge";
  if (type === "apply") return applying(call, request);
  const about = scaleCall(call);
  return (object, scale) => {
    const before = patchable(call, object, scale);
    const { patched, reading } = patchedBy(about, type, { seen: before, body: request.body });
    const wanted = draftOf(about, copied(patched), reading);
    refuseOtherName(call, wanted.metadata.name);
    const owned = updated(call, { object, scale, wanted });
    const isSame = wanted.metadata.resourceVersion === before.metadata.resourceVersion;
    const { resourceVersion: _, ...metadata } = wanted.metadata;
    return { wanted: isSame && !namesRevision(type, request.body) ? { ...wanted, metadata } : wanted, owned };
  };
}

function patchable(call: Call, object: KubeObject, scale: ScalePaths): KubeObject {
  const shown = scaleOf(object, scale);
  if (call.resource.custom && !hasReplicas(object, scale)) shown["spec"] = { replicas: NONE };
  return ownedScale(shown as unknown as KubeObject, object, scale);
}

/** kube-apiserver cannot convert scales of custom kinds to the version they are applied in. */
function applying(call: Call, { body, query }: ScaleRequest): Writer {
  const about = scaleCall(call);
  const applied = appliedConfiguration(about, copied(record(body)));
  return (object, scale) => {
    if (call.resource.custom) throw apiError(500, "", UNCONVERTIBLE);
    const live = ownedScale(scaleOf(object, scale) as unknown as KubeObject, object, scale);
    const owned = laid(about, { live, applied, force: isTrue(query.get("force")), typed: scaleType(call) });
    const { resourceVersion: _, ...metadata } = owned.metadata;
    const pinned = record(applied.metadata)["resourceVersion"] ? owned : { ...owned, metadata };
    return { wanted: readApplied(about, applied, pinned), owned };
  };
}

const UNCONVERTIBLE =
  "failed to create manager for existing fields: failed to convert live object (/; autoscaling/v1, Kind=Scale) to proper version: request to convert CR to an invalid group/version: autoscaling/v1";

/** The Scale with its owners after an update. */
function updated(
  call: Call,
  { object, scale, wanted }: { object: KubeObject; scale: ScalePaths; wanted: KubeObject },
): KubeObject {
  return trackUpdate({
    before: ownedScale(scaleOf(object, scale) as unknown as KubeObject, object, scale),
    after: wanted,
    manager: call.fieldManager,
    subresource: "scale",
    typed: scaleType(call),
    time: timestamp(call.cluster.clock.now()),
  });
}

function scaleType({ cluster }: Call): Typed {
  const apiVersion = "autoscaling/v1";
  const type = cluster.catalog.types.ofKind(apiVersion, "Scale");
  return { apiVersion, type, reset: NO_FIELDS, form: () => undefined };
}

/** The number of replicas that a Scale asks for. Custom kinds judge it by rules of their own, as part of the object. */
function wantedReplicas(
  call: Call,
  { wanted, object, scale }: { wanted: KubeObject; object: KubeObject; scale: ScalePaths },
): number {
  const replicas = Number(at(wanted, "spec", "replicas") ?? 0);
  if (call.resource.custom) {
    if (replicas !== NONE) return replicas;
    throw badRequest(`the spec replicas field ".${scale.specReplicas.join(".")}" cannot be empty`);
  }
  if (replicas < 0) {
    const problem = invalidValue("spec.replicas", replicas, "must be greater than or equal to 0");
    throw invalid({ group: "autoscaling", kind: "Scale" }, call.name, [problem]);
  }
  const { uid } = wanted.metadata;
  if (uid && uid !== object.metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${object.metadata.uid ?? ""}`;
    throw conflict({ group: call.resource.group, plural: `${call.resource.plural}/scale` }, call.name, why);
  }
  return replicas;
}

function hasReplicas(object: KubeObject, { specReplicas }: ScalePaths): boolean {
  return (at(object, ...specReplicas) ?? null) !== null;
}

/** The scale that a reader gets. Throws 500 where a custom object says nothing of replicas. */
function shownScale(call: Call, object: KubeObject, scale: ScalePaths): Json {
  if (call.resource.custom && !hasReplicas(object, scale)) {
    const message = `the spec replicas field ".${scale.specReplicas.join(".")}" does not exist`;
    throw apiError(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });
  }
  return scaleOf(object, scale);
}

/** Admission checks the Scale, not the object whose scale it is. */
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
            const scaled = copied(draft);
            write(scaled, scale.specReplicas, replicas);
            return scaled;
          },
        }
      : {}),
    ...(validate ? { validate: (draft, old) => validate(shown(draft), shown(old)) } : {}),
  };
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
    // An empty selector is omitted.
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
