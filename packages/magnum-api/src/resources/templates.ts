import { MagnumClusterTemplate, type MagnumTemplateAttributes } from "@causeway/api";
import { canonicalJson } from "@causeway/foundation";
import { keyOf, timestamp } from "@causeway/kubernetes";
import type { CloudFacts, CloudNames } from "../access/cloud-checks.ts";
import { labelSettings, refusedLabel } from "../cluster/labels.ts";
import { magnumLabels } from "../cluster/names.ts";
import { enforce, isAdmin, scopeOf, type Answer, type Api, type Call } from "../call/call.ts";
import { nextLink, onlyParameters, pageOf, readPage, type Listed } from "../call/page.ts";
import { conflict, forbidden, invalid, MagnumError, notFound } from "../wire/error.ts";
import { isUuid, readFields, readUuid, type Values } from "../wire/fields.ts";
import { pythonRepr } from "../wire/python.ts";
import { applyPatch, readPatch } from "../wire/patch.ts";
import { isName } from "./find-cluster.ts";
import { randomName } from "./random-name.ts";
import {
  attributesOf,
  templateDocument,
  templateFields,
  templateSortKeys,
  templateView,
} from "./template-attributes.ts";

const NETWORK_DRIVERS = ["flannel", "calico", "cilium"];
/** Magnum's own default, and what clusters here get. */
const DEFAULT_NETWORK_DRIVER = "flannel";

const listed: Listed<MagnumClusterTemplate> = {
  id: ({ spec }) => spec.uuid,
  what: "ClusterTemplate",
  keys: {
    uuid: ({ spec }) => spec.uuid,
    name: ({ spec }) => spec.name,
    ...templateSortKeys,
    created_at: ({ metadata }) => metadata.creationTimestamp,
    updated_at: ({ spec }) => spec.updatedAt,
    project_id: ({ spec }) => spec.projectID,
    user_id: ({ spec }) => spec.userID,
  },
};

const OWN_DRIVER = "k8s_causeway";
/**
 * Drivers of Kubernetes of other installations of Magnum, whose templates and images name them: what is made of these
 * here is the same.
 */
const OTHER_DRIVERS = [
  "k8s_fedora_coreos_v1",
  "k8s_fedora_atomic_v1",
  "k8s_fedora_ironic_v1",
  "k8s_coreos_v1",
  "k8s_capi_helm_v1",
  "k8s_cluster_api_flatcar",
  "k8s_cluster_api_rockylinux",
  "k8s_cluster_api_ubuntu",
  "k8s_cluster_api_ubuntu_focal",
];

/** The template by its id or name, if the caller sees it. @throws MagnumError 404, 409 */
export async function findTemplate(api: Api, call: Call, ident: string): Promise<MagnumClusterTemplate> {
  const { store } = api;
  const uuid = readUuid(ident);
  const isIt = ({ spec }: MagnumClusterTemplate): boolean =>
    uuid === undefined ? spec.name === ident : spec.uuid === uuid;
  const all = uuid === undefined ? store.templates.list().filter(isIt) : [store.template(uuid)];
  let seen = all.filter((one) => one !== undefined).filter((one) => isSeen(api, call, one));
  // Another process may have created it just now, for the same client.
  if (seen.length === 0 && uuid !== undefined) {
    const fresh = await store.freshTemplate(uuid, call.caller.projectId, call.signal);
    seen = fresh === undefined ? [] : [fresh];
  } else if (seen.length === 0 && isName(ident))
    seen = (await store.freshTemplates(call.caller.projectId)).filter(isIt);
  const [first, second] = seen;
  if (first === undefined) throw notFound("ClusterTemplate", ident.slice(0, 300));
  if (second !== undefined)
    throw conflict("Multiple ClusterTemplates exist with same name. Please use the ClusterTemplate uuid instead.");
  return first;
}

function isSeen(api: Api, call: Call, { spec }: MagnumClusterTemplate): boolean {
  return (
    spec.projectID === call.caller.projectId || isAdmin(api, call) || (spec.template.public && !spec.template.hidden)
  );
}

/**
 * GET clustertemplates, and clustertemplates/detail with `isDetail`: own and public ones, hidden ones only for
 * administrators. @throws MagnumError 400, 403, 404
 */
export async function listTemplates(api: Api, call: Call, isDetail = false): Promise<Answer> {
  enforce(api, call, isDetail ? "clustertemplate:detail" : "clustertemplate:get_all");
  const page = readPage(call.query);
  const project = scopeOf(api, call, `clustertemplate:${isDetail ? "detail" : "get_all"}_all_projects`);
  const seen = api.store.templates
    .list()
    .filter(
      ({ spec }) =>
        project === undefined || (!spec.template.hidden && (spec.projectID === project || spec.template.public)),
    );
  const items = pageOf(seen, page, listed);
  const path = isDetail ? "clustertemplates/detail" : "clustertemplates";
  const next = nextLink(
    call.origin,
    path,
    page,
    items.map(({ spec }) => spec.uuid),
  );
  return { status: 200, body: { clustertemplates: items.map((one) => templateView(one, call)), ...next } };
}

/** GET clustertemplates/ID, by uuid or name. @throws MagnumError 403, 404, 409 */
export async function showTemplate(api: Api, call: Call): Promise<Answer> {
  if (isAdmin(api, call)) enforce(api, call, "clustertemplate:get_one_all_projects");
  const template = await findTemplate(api, call, call.names["template"] ?? "");
  const { projectID: project_id, userID: user_id } = template.spec;
  if (!template.spec.template.public) enforce(api, call, "clustertemplate:get", { project_id, user_id });
  return { status: 200, body: templateView(template, call) };
}

/**
 * POST clustertemplates: checks the attributes, the cloud and the number of the project's templates.
 * @throws MagnumError 400, 403, 404, 409
 */
export async function createTemplate(api: Api, call: Call): Promise<Answer> {
  const values = readFields(call.body, templateFields, "cluster_template");
  refuseReadOnly(call.body as Values);
  if (values["coe"] === undefined) throw invalid("Requested COE type Unset is not supported.");
  enforce(api, call, "clustertemplate:create");
  const attributes = checked(api, values);
  if (attributes.driver !== undefined) driverOf(attributes.driver);
  const { distribution, driver } = await checkCloud(api, call, attributes, { isNewTemplate: true });
  if (attributes.public || attributes.hidden) enforcePublish(api, call);
  const uuid = api.newId();
  const { projectId, userId } = call.caller;
  const name = typeof values["name"] === "string" ? values["name"] : `${randomName()}-template`;
  const template: MagnumClusterTemplate = {
    apiVersion: "magnum.causeway.dev/v1alpha1",
    kind: "MagnumClusterTemplate",
    metadata: { name: uuid, labels: { [magnumLabels.uuid]: uuid } },
    spec: {
      uuid,
      name,
      projectID: projectId,
      userID: userId,
      template: {
        ...attributes,
        driver: driverOf(attributes.driver ?? driver),
        ...(distribution === undefined ? {} : { clusterDistro: distribution }),
      },
    },
  };
  const made = await createWithinQuota(api, call, template);
  const location = `${call.origin}/v1/clustertemplates/${uuid}`;
  const view = templateView(made, call);
  // As Magnum responds: what was not given is null, in this response only.
  const body = values["labels"] === undefined ? { ...view, labels: null } : view;
  return { status: 201, body, headers: { location } };
}

/** Creates of a project come one after the other, as those of clusters. @throws MagnumError 403 */
function createWithinQuota(api: Api, call: Call, template: MagnumClusterTemplate): Promise<MagnumClusterTemplate> {
  const { store, maxTemplates: limit } = api;
  const { projectId } = call.caller;
  return api.inTurn(`templates of ${projectId}`, async () => {
    if (limit > 0 && store.templateCountOf(projectId) >= limit) throw quotaReached(limit);
    const made = await store.create(MagnumClusterTemplate, template, projectId, call.signal);
    // Another process may have created one that this one had not read: who sees too many gives its own up.
    if (limit === 0 || (await store.freshCountOf(MagnumClusterTemplate, made, call.signal)) <= limit) return made;
    await store.remove(store.templates, made, call.signal);
    throw quotaReached(limit);
  });
}

const quotaReached = (limit: number) =>
  forbidden(
    `Resource limit exceeded: You have reached the maximum cluster templates per project, ${limit}. You may delete a cluster template to make room for a new one.`,
  );

function refuseReadOnly(body: Values): void {
  const uuid = body["uuid"];
  if (typeof uuid === "string" && !isUuid(uuid)) throw invalid(`Expected a uuid but received ${uuid.slice(0, 200)}.`);
  for (const name of ["links", "project_id", "user_id"]) {
    const value = body[name];
    if (value === undefined || value === null) continue;
    const shown = typeof value === "string" ? value.slice(0, 500) : pythonRepr(value);
    throw invalid(`Invalid input for field/attribute ${name}. Value: '${shown}'. Cannot set read only field.`);
  }
}

/** What a template names in the caller's cloud. Its fixed networks may be those of a project that uses it. */
export function cloudNamesOf(attributes: MagnumTemplateAttributes): CloudNames {
  const { imageID, flavorID, masterFlavorID, externalNetworkID } = attributes;
  const hasBootVolume = bootsFromVolume(attributes.labels);
  return { imageID, flavorID, masterFlavorID, hasBootVolume, externalNetworkID };
}

/** Whether labels ask for a boot volume: a flavor without a disk is accepted then. */
export const bootsFromVolume = (labels: Readonly<Record<string, string>> | undefined): boolean =>
  labelSettings(labels ?? {}).bootVolume !== undefined;

function checkCloud(
  api: Api,
  call: Call,
  attributes: MagnumTemplateAttributes,
  more: { readonly isNewTemplate?: boolean } = {},
): Promise<CloudFacts> {
  return api.cloud.check(call.caller.token, { ...cloudNamesOf(attributes), ...more }, call.signal);
}

/** Attributes that a cluster can be made from. @throws MagnumError 400 */
function checked({ support }: Api, values: Values): MagnumTemplateAttributes {
  const attributes = attributesOf(values);
  const {
    networkDriver = DEFAULT_NETWORK_DRIVER,
    volumeDriver,
    labels = {},
    dockerStorageDriver,
    dockerVolumeSize,
  } = attributes;
  const expecting = (drivers: readonly string[]) => [...drivers, "unspecified"].join("/");
  if (!NETWORK_DRIVERS.includes(networkDriver))
    throw invalid(
      `Network driver type ${networkDriver} is not supported, expecting a ${expecting(NETWORK_DRIVERS)} network driver.`,
    );
  if (volumeDriver !== undefined && volumeDriver !== "cinder")
    throw invalid(`Volume driver type ${volumeDriver} is not supported, expecting a cinder/unspecified volume driver.`);
  if (dockerStorageDriver === "devicemapper" && (dockerVolumeSize ?? 0) < 3)
    throw invalid(
      `docker volume size ${dockerVolumeSize ?? "None"} GB is not valid, expecting minimum value 3GB for devicemapper storage driver.`,
    );
  const refused = refusedLabel(labels, support);
  if (refused !== undefined) throw invalid(refused);
  return { ...attributes, networkDriver };
}

/** The driver that a template or its image names, or the one that there is. @throws MagnumError 400 */
function driverOf(name: string = OWN_DRIVER): string {
  if (name !== OWN_DRIVER && !OTHER_DRIVERS.includes(name))
    throw invalid(`Cluster driver ${name.slice(0, 100)} not supported.`);
  return name;
}

function enforcePublish(api: Api, call: Call): void {
  try {
    enforce(api, call, "clustertemplate:publish");
  } catch (error) {
    if (error instanceof MagnumError)
      throw forbidden("Not authorized to set public or hidden flag for cluster template.");
    throw error;
  }
}

const unremovable = [
  "/network_driver",
  "/external_network_id",
  "/tls_disabled",
  "/public",
  "/server_type",
  "/coe",
  "/registry_enabled",
  "/cluster_distro",
  "/hidden",
  "/image_id",
];

/**
 * PATCH clustertemplates/ID. While clusters use it, only name, tags, public and hidden change.
 * @throws MagnumError 400, 403, 404, 409
 */
export async function patchTemplate(api: Api, call: Call): Promise<Answer> {
  const patch = readPatch(call.body, { internal: [], mandatory: unremovable });
  if (isAdmin(api, call)) enforce(api, call, "clustertemplate:update_all_projects");
  const ident = call.names["template"] ?? "";
  const template = await findTemplate(api, call, ident);
  const { uuid, projectID: project_id, userID: user_id } = template.spec;
  enforce(api, call, "clustertemplate:update", { project_id, user_id });
  const wanted = readFields(applyPatch(templateDocument(template), patch), templateFields, "cluster_template");
  const next = checked(api, wanted);
  // One from before drivers were checked keeps its own.
  if (next.driver !== template.spec.template.driver) driverOf(next.driver);
  await checkCloud(api, call, next);
  const changed = await api.store.change(
    MagnumClusterTemplate,
    keyOf(template),
    (current) => {
      const values = readFields(applyPatch(templateDocument(current), patch), templateFields, "cluster_template");
      const attributes = { driver: OWN_DRIVER, ...checked(api, values) };
      const name = typeof values["name"] === "string" ? values["name"] : current.spec.name;
      const before = current.spec.template;
      if (before.public !== attributes.public || before.hidden !== attributes.hidden) enforcePublish(api, call);
      const isUsed = api.store.clusters.list().some(({ spec }) => spec.templateUUID === uuid);
      if (isUsed && fixedPart(before) !== fixedPart(attributes)) throw referenced(ident);
      const isSame = name === current.spec.name && canonicalJson(before) === canonicalJson(attributes);
      const updatedAt = isSame ? {} : { updatedAt: timestamp(api.clock.now()) };
      return { ...current, spec: { ...current.spec, name, ...updatedAt, template: attributes } };
    },
    call.signal,
  );
  return { status: 200, body: templateView(changed, call) };
}

/** What cannot change while clusters use the template, as text. */
function fixedPart(attributes: MagnumTemplateAttributes): string {
  const { tags: _, ...fixed } = { ...attributes, public: false, hidden: false };
  return canonicalJson(fixed);
}

const referenced = (ident: string) =>
  invalid(`ClusterTemplate ${ident.slice(0, 300)} is referenced by one or multiple clusters.`);

/** DELETE clustertemplates/ID, which is refused while clusters use it. @throws MagnumError 400, 403, 404, 409 */
export async function deleteTemplate(api: Api, call: Call): Promise<Answer> {
  onlyParameters(call.query, []);
  if (isAdmin(api, call)) enforce(api, call, "clustertemplate:delete_all_projects");
  const ident = call.names["template"] ?? "";
  const template = await findTemplate(api, call, ident);
  const { uuid, projectID: project_id, userID: user_id } = template.spec;
  enforce(api, call, "clustertemplate:delete", { project_id, user_id });
  if (api.store.clusters.list().some(({ spec }) => spec.templateUUID === uuid)) throw referenced(ident);
  await api.store.remove(api.store.templates, template, call.signal);
  return { status: 204 };
}
