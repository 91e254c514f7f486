import type { KubeObject } from "@causeway/kubernetes";

import { andThen, type MaybePromise } from "../json/maybe-promise.ts";
import { record } from "../json/json.ts";
import { apiVersionOf, seen, shownTo } from "../contract/resource.ts";
import type { Call } from "../contract/call.ts";
import { gateOf } from "../registry/admit.ts";
import { create } from "../registry/create.ts";
import { current } from "../contract/call.ts";
import { deleteOptions, remove, type DeleteOptions, type Deletion } from "../registry/delete.ts";
import { list, selectionOf } from "../registry/list.ts";
import { apply, patch, patchTypeOf } from "../registry/patch.ts";
import { update, type Updated } from "../registry/update.ts";
import { metadataOnly, table, type TableOptions } from "../tables/table.ts";
import { mediaType } from "./body.ts";
import { callOf } from "./call-of.ts";
import type { Form } from "../contract/watch-line-cache.ts";
import { componentStatuses, isComponentStatus, unwatchable } from "./component-statuses.ts";
import { answerList } from "./list-answer.ts";
import { refuseWrongNumber } from "./negotiate.ts";
import { isTrue, type RequestInfo } from "../contract/request-info.ts";
import { admitConnect } from "./connect-admission.ts";
import { connectPod, isPodConnect } from "./pod-connect.ts";
import { send } from "./respond.ts";
import type { Response } from "../contract/exchange.ts";
import { forbiddenField, required } from "../errors/problems.ts";
import { apiError, badRequest, invalidOptions, methodNotAllowed, noSuchResource } from "../errors/status.ts";
import { scaleRequest } from "./scale.ts";
import { subresourceRequest } from "./subresources.ts";
import { serveWatch } from "./watch.ts";
import { isUsage } from "../usage/kinds.ts";
import { usage, usageList } from "../usage/usage.ts";
import type { ResourceRequest } from "./resource-request.ts";

/** Answers a request on a resource. Throws Status errors. */
export async function serveResource(request: ResourceRequest, response: Response): Promise<void> {
  const { info } = request;
  refusePatchType(request);
  const call = callOf(request, response);
  const verb = checkedVerb(request, call);
  if (isComponentStatus(call)) {
    const body = componentStatuses(call, request, () => tableOptions(request));
    return answer(request, response, { code: 200, body });
  }
  if (isUsage(call)) return answerUsage(request, response, call);
  if (info.subresource === "scale")
    return answer(request, response, { code: 200, body: await scaleRequest(call, request) });
  if (isPodConnect(call)) return connectPod(call, await admitConnect(call, request.query), response);
  const special = await subresourceRequest(call, request);
  if (special) return send(response, special.code, special.body, request.wanted);
  switch (verb) {
    case "list":
      return answerList({ ...request, call, tableOptions: () => tableOptions(request) }, response);
    case "watch":
      return serveWatch(watchOf(request, call), response, request.closing);
    case "get":
      return answerObject(request, response, { code: 200, object: current(call).object });
    case "create":
      return answerObject(request, response, { code: 201, object: await create(call, request.body) });
    case "update":
      return answerUpdate(request, response, await update(call, request.body));
    case "patch":
      return answerPatch(request, response, call);
    case "delete":
      return answerDelete(request, response, call);
    case "deletecollection":
      return deleteCollection(request, response, call);
    default:
      throw methodNotAllowed();
  }
}

/**
 * What is to be done, once it is clear that the resource allows that; warns of a deprecated version. Throws 404, 405.
 */
function checkedVerb(request: ResourceRequest, call: Call): string {
  const { info, served } = request;
  const { resource, version } = served;
  const verbs = info.subresource
    ? version.subresources?.find((s) => s.name === info.subresource)?.verbs
    : resource.verbs;
  if (!verbs) throw noSuchResource();
  const { verb } = info;
  const isUnwatchable = verb === "watch" && isComponentStatus(call);
  if (!isUnwatchable && (!verbs.includes(verb) || !hasPlace(info, verb))) throw methodNotAllowed();
  if (version.deprecated !== undefined) call.warn(version.deprecated);
  if (isUnwatchable) throw unwatchable(request);
  return verb;
}

/** Objects are created in collections and changed where they are. */
function hasPlace({ name, subresource }: RequestInfo, verb: string): boolean {
  if (verb === "create") return subresource !== "" || name === "";
  return (verb !== "update" && verb !== "patch") || name !== "";
}

async function answerUsage(request: ResourceRequest, response: Response, call: Call): Promise<void> {
  const { items: found, why } = await usage(call, request.query);
  if (why !== undefined) call.warn(why);
  const { wanted, served } = request;
  if (wanted.table) return answer(request, response, { code: 200, body: table(found, {}, tableOptions(request)) });
  const isList = call.name === "";
  if (wanted.metadataOnly) refuseWrongNumber(wanted.accept, { ...served.resource, isList });
  const shown = wanted.metadataOnly ? found.map(metadataOnly) : found;
  if (!isList) return answer(request, response, { code: 200, body: shown[0] });
  answer(request, response, { code: 200, body: usageList(call, shown) });
}

interface Answer {
  readonly code: number;
  readonly object: KubeObject;
}

function answerObject(request: ResourceRequest, response: Response, { code, object }: Answer): MaybePromise<void> {
  const { served, info } = request;
  return andThen(seen(served, object), (found) =>
    answerSeen(request, response, { code, object: info.subresource === "" ? shownTo(served, found) : found }),
  );
}

function answerSeen(request: ResourceRequest, response: Response, { code, object }: Answer): void {
  const { wanted } = request;
  if (wanted.table) {
    const metadata = { resourceVersion: object.metadata.resourceVersion };
    return send(response, code, table([object], metadata, tableOptions(request)), wanted);
  }
  if (wanted.metadataOnly) refuseWrongNumber(wanted.accept, { ...request.served.resource, isList: false });
  send(response, code, wanted.metadataOnly ? metadataOnly(object) : object, wanted);
}

function answer(request: ResourceRequest, response: Response, { code, body }: { code: number; body: unknown }): void {
  send(response, code, body, request.wanted);
}

function tableOptions({ served, query, cluster }: ResourceRequest): TableOptions {
  const include = query.get("includeObject") ?? "";
  if (!["", "None", "Object", "Metadata"].includes(include)) {
    const why = `includeObject: Invalid value: ${JSON.stringify(include)}: must be 'Metadata', 'Object', 'None', or empty`;
    throw badRequest(`Unable to convert to Table as requested: ${why}`);
  }
  return {
    ...served,
    include: include === "None" || include === "Object" ? include : "Metadata",
    now: cluster.clock.now(),
  };
}

function watchOf(request: ResourceRequest, call: Call): Parameters<typeof serveWatch>[0] {
  const { served, wanted, query } = request;
  const { resource, version } = served;
  return {
    call,
    query,
    ...(wanted.metadataOnly || wanted.table
      ? { form: wanted.metadataOnly ? () => METADATA : tableForms(request) }
      : {}),
    bookmark: (metadata) => {
      const kind = wanted.metadataOnly ? "PartialObjectMetadata" : resource.kind;
      const apiVersion = wanted.metadataOnly ? "meta.k8s.io/v1" : apiVersionOf(resource.group, version.name);
      const empty = { kind, apiVersion, metadata: { creationTimestamp: null, ...metadata } };
      return wanted.table
        ? {
            kind: "Table",
            apiVersion: "meta.k8s.io/v1",
            metadata: { resourceVersion: metadata.resourceVersion },
            columnDefinitions: [],
            rows: [{ cells: [], object: empty }],
          }
        : empty;
    },
  };
}

const METADATA: Form = {
  name: "PartialObjectMetadata",
  depends: [],
  encode: (object) => JSON.stringify(metadataOnly(object)),
};

/** Tables of one object each, of which the first has the columns' definitions. Their ages are whole seconds. */
function tableForms(request: ResourceRequest): () => Form {
  let headless = false;
  return () => {
    const options = { ...tableOptions(request), headless };
    headless = true;
    const { include, version, now } = options;
    return {
      name: `Table ${include} ${options.headless}`,
      depends: [version, Math.floor(now / 1000)],
      encode: (object) =>
        JSON.stringify(table([object], { resourceVersion: object.metadata.resourceVersion }, options)),
    };
  };
}

function answerUpdate(request: ResourceRequest, response: Response, { object, created }: Updated): MaybePromise<void> {
  return answerObject(request, response, { code: created ? 201 : 200, object });
}

/** Rejects unsupported patch types before reading the body. */
function refusePatchType({ info, contentType, served }: ResourceRequest): void {
  if (info.verb !== "patch") return;
  const type = patchTypeOf(mediaType(contentType));
  if (type === undefined) throw apiError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
  if (type !== "strategic" || !served.resource.custom) return;
  const accepted = "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
  throw apiError(415, "UnsupportedMediaType", message);
}

async function answerPatch(request: ResourceRequest, response: Response, call: Call): Promise<void> {
  const { body, contentType, query } = request;
  const type = patchTypeOf(mediaType(contentType));
  if (!type) return;
  if (type !== "apply" && query.get("force") !== null) {
    throw invalidOptions("PatchOptions", forbiddenField("force", "may not be specified for non-apply patch"));
  }
  if (type !== "apply") {
    return answerObject(request, response, { code: 200, object: await patch(call, type, body) });
  }
  if (!query.get("fieldManager")) {
    throw invalidOptions("PatchOptions", required("fieldManager", "is required for apply patch"));
  }
  const { object, created } = await apply(call, body, isTrue(query.get("force")));
  return answerObject(request, response, { code: created ? 201 : 200, object });
}

async function answerDelete(request: ResourceRequest, response: Response, call: Call): Promise<void> {
  const options = optionsOfDeletion(call, request);
  const deleted = await remove(call, options);
  return answerDeletion(request, response, deleted);
}

const JOBS_WARNING =
  "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning";

/** The deletion of Jobs and ReplicationControllers orphans their pods by default. */
export function optionsOfDeletion(call: Call, { body, query }: Pick<ResourceRequest, "body" | "query">): DeleteOptions {
  const options = deleteOptions(body, query);
  const isJob = call.resource.storage === "batch/jobs";
  if ((!isJob && call.resource.storage !== "/replicationcontrollers") || options.policy !== undefined) return options;
  const asked = record(body)["orphanDependents"] ?? query.get("orphanDependents") ?? undefined;
  if (asked !== undefined) return options;
  if (isJob) call.warn(JOBS_WARNING);
  return { ...options, policy: "Orphan" };
}

/** Kinds whose deletion answers with the last state of the object. */
const RETURNED: ReadonlySet<string> = new Set([
  "/namespaces",
  "/persistentvolumeclaims",
  "/persistentvolumes",
  "/pods",
  "/podtemplates",
  "/resourcequotas",
  "/serviceaccounts",
  "/services",
  "resource.k8s.io/deviceclasses",
  "resource.k8s.io/resourceclaims",
  "resource.k8s.io/resourceclaimtemplates",
  "resource.k8s.io/resourceslices",
  "storage.k8s.io/csidrivers",
  "storage.k8s.io/csinodes",
  "storage.k8s.io/storageclasses",
  "storage.k8s.io/volumeattachments",
  "storage.k8s.io/volumeattributesclasses",
]);

/** Most kinds answer with Status Success when gone; pods, namespaces and what is held answer with the object. */
function answerDeletion(request: ResourceRequest, response: Response, { object, gone }: Deletion): MaybePromise<void> {
  const { resource } = request.served;
  // A request with the deprecated orphanDependents=false gets the object, which still exists.
  const isAccepted = !gone && record(request.body)["orphanDependents"] === false;
  // An object that finalizers hold is returned as stored.
  if (!gone) {
    const code = isAccepted ? 202 : 200;
    return andThen(seen(request.served, object), (found) => answerSeen(request, response, { code, object: found }));
  }
  if (RETURNED.has(resource.storage)) return answerObject(request, response, { code: 200, object });
  const details = {
    name: object.metadata.name,
    ...(resource.group ? { group: resource.group } : {}),
    kind: resource.plural,
    uid: object.metadata.uid,
  };
  send(response, 200, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details }, request.wanted);
}

async function deleteCollection(request: ResourceRequest, response: Response, call: Call): Promise<void> {
  selectionOf(call, request.query);
  const options = optionsOfDeletion(call, request);
  const listed = await list(call, request.query);
  // Admission is called for each object, but without a name: the request named none.
  const gate = gateOf(call, "DELETE");
  for (const { metadata } of listed.items) {
    const target = { ...call, namespace: metadata.namespace ?? "", name: metadata.name };
    try {
      await remove(target, options, gate);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "KUBERNETES_NOT_FOUND")) throw error;
    }
  }
  const { resource, version } = request.served;
  const { items, ...metadata } = listed;
  // Lists of built-in kinds say once what their items are.
  const shown = resource.custom ? items : items.map(({ apiVersion: _version, kind: _kind, ...rest }) => rest);
  const apiVersion = apiVersionOf(resource.group, version.name);
  send(response, 200, { kind: resource.listKind, apiVersion, metadata, items: shown }, request.wanted);
}
