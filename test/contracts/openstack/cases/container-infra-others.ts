import type { RawCase, RawGroup, Account } from "../case.ts";
import { get, kept, newest, op, service, shown } from "./container-infra-requests.ts";

const version = (says: string, value: string, rest: Partial<RawCase> = {}): RawCase =>
  get(says, "/clustertemplates", { headers: { "openstack-api-version": value }, ...rest });

const versions: RawGroup = {
  name: "versions",
  service,
  cases: [
    get("the root", "^/", { statusOnly: true }),
    get("the version", "", { statusOnly: true }),
    get("no header", "/clustertemplates", { headers: {} }),
    ...Array.from({ length: 10 }, (_, at) => version(`1.${at + 1}`, `container-infra 1.${at + 1}`)),
    version("1.0", "container-infra 1.0"),
    version("1.11", "container-infra 1.11"),
    version("1.99", "container-infra 1.99"),
    version("2.1", "container-infra 2.1"),
    version("latest", "container-infra latest"),
    version("the long name", "container-infrastructure-management 1.5"),
    version("the middle name", "container-infrastructure 1.5"),
    version("another service", "compute 1.5"),
    version("no service", "1.5"),
    version("no number", "container-infra x"),
    version("a number with three parts", "container-infra 1.5.1"),
    version("nothing at all", ""),
    ...(["stats", "quotas", "clusters/{nothing}/nodegroups"] as const).flatMap((path) =>
      ["1.1", "1.3", "1.4", "1.6", "1.8", "1.9"].map((each) =>
        get(`${path.split("/").at(-1)} at ${each}`, `/${path}`, {
          headers: { "openstack-api-version": `container-infra ${each}` },
        }),
      ),
    ),
    get("a path that is none", "/nothing"),
    get("a path without a version", "^/clustertemplates"),
    get("health", "^/healthcheck", { statusOnly: true }),
  ],
};

const as = (who: Account): Partial<RawCase> => ({ as: who });

const quotas: RawGroup = {
  name: "quotas and statistics",
  service,
  cases: [
    get("quotas", "/quotas"),
    get("quotas of all", "/quotas?all_tenants=True"),
    get("quotas of all, for the administrator", "/quotas?all_tenants=True", { ...as("admin"), statusOnly: true }),
    get("the project's own quota", "/quotas/{project}/Cluster", { exact: ["hard_limit", "resource"] }),
    get("another project's quota", "/quotas/{altProject}/Cluster"),
    get("a quota of something else", "/quotas/{project}/Nothing"),
    {
      says: "a member makes one",
      call: "POST /quotas",
      headers: newest,
      body: { project_id: "{project}", hard_limit: 5 },
    },
    {
      says: "the administrator makes one",
      call: "POST /quotas",
      headers: newest,
      body: { project_id: "{altProject}", resource: "Cluster", hard_limit: 9 },
      ...as("admin"),
      exact: ["hard_limit", "resource"],
      keep: { quota: "id" },
      undo: "DELETE /quotas/{altProject}/Cluster",
    },
    {
      says: "the administrator makes it again",
      call: "POST /quotas",
      headers: newest,
      body: { project_id: "{altProject}", resource: "Cluster", hard_limit: 9 },
      ...as("admin"),
    },
    get("it is read", "/quotas/{altProject}/Cluster", { ...as("alt"), exact: ["hard_limit"] }),
    get("it is listed", "/quotas", { ...as("alt"), exact: ["quotas.0.hard_limit"] }),
    ...(
      [
        ["no project", { hard_limit: 5 }],
        ["a limit below nothing", { project_id: "{adminProject}", hard_limit: -1 }],
        ["a limit that is none", { project_id: "{adminProject}", hard_limit: "x" }],
        ["a resource that is none", { project_id: "{adminProject}", resource: "Nothing", hard_limit: 5 }],
        ["an attribute that is none", { project_id: "{adminProject}", unknown: 5 }],
        ["an empty body", {}],
      ] as const
    ).map(([says, body]): RawCase => ({ says, call: "POST /quotas", headers: newest, body, ...as("admin") })),
    {
      says: "it is changed",
      call: "PATCH /quotas/{altProject}/Cluster",
      headers: newest,
      body: { project_id: "{altProject}", resource: "Cluster", hard_limit: 11 },
      ...as("admin"),
      exact: ["hard_limit"],
    },
    {
      says: "it is changed by text",
      call: "PATCH /quotas/{altProject}/Cluster",
      headers: newest,
      body: { hard_limit: "12" },
      ...as("admin"),
      exact: ["hard_limit"],
    },
    {
      says: "a member changes it",
      call: "PATCH /quotas/{altProject}/Cluster",
      headers: newest,
      body: { hard_limit: 12 },
    },
    {
      says: "one that is not there is changed",
      call: "PATCH /quotas/{nothing}/Cluster",
      headers: newest,
      body: { hard_limit: 12 },
      ...as("admin"),
    },
    {
      says: "one that is not there is deleted",
      call: "DELETE /quotas/{nothing}/Cluster",
      headers: newest,
      ...as("admin"),
    },
    { says: "a member deletes it", call: "DELETE /quotas/{altProject}/Cluster", headers: newest },
    { says: "it is deleted", call: "DELETE /quotas/{altProject}/Cluster", headers: newest, ...as("admin") },
    get("with limit=0", "/quotas?limit=0"),
    get("with a sort key that is none", "/quotas?sort_key=nothing"),
    get("with a parameter that is unknown", "/quotas?unknown=1"),
    get("all_tenants that is no flag", "/quotas?all_tenants=maybe"),
    get("statistics", "/stats"),
    get("statistics of the project", "/stats?project_id={project}&type=cluster", { exact: ["clusters", "nodes"] }),
    get("statistics of another project", "/stats?project_id={altProject}&type=cluster"),
    get(
      "statistics of another project, for the administrator",
      "/stats?project_id={altProject}&type=cluster",
      as("admin"),
    ),
    get("statistics of another type", "/stats?type=nothing"),
    get("statistics with a parameter that is unknown", "/stats?unknown=1"),
    get("services", "/mservices"),
    get("services, for the administrator", "/mservices", {
      ...as("admin"),
      exact: ["mservices.0.binary", "mservices.0.state"],
    }),
  ],
};

const newCluster = { name: "{run}-c", cluster_template_id: "{nothing}" };
const cluster = (says: string, more: Readonly<Record<string, unknown>>, rest: Partial<RawCase> = {}): RawCase => ({
  says,
  call: "POST /clusters",
  headers: newest,
  body: { ...newCluster, ...more },
  ...rest,
});

const clusters: RawGroup = {
  name: "clusters that are refused",
  service,
  cases: [
    kept,
    get("clusters", "/clusters"),
    get("clusters in detail", "/clusters/detail"),
    get("one that is not there, by id", "/clusters/{nothing}"),
    get("one that is not there, by name", "/clusters/{run}-none"),
    get("a page of nothing", "/clusters?limit=0"),
    get("a sort key that is none", "/clusters?sort_key=nothing"),
    get("a marker that is not there", "/clusters?marker={nothing}"),
    cluster("a template that is not there, by id", {}),
    cluster("a template that is not there, by name", { cluster_template_id: "{run}-none" }),
    cluster(
      "a template that is not there, at 1.9",
      {},
      { headers: { "openstack-api-version": "container-infra 1.9" } },
    ),
    { says: "no template", call: "POST /clusters", headers: newest, body: { name: "{run}-c" } },
    ...(
      [
        ["name", "1st"],
        ["name", "a b"],
        ["name", "x".repeat(243)],
        ["name", 7],
        ["node_count", -1],
        ["node_count", "x"],
        ["master_count", 0],
        ["master_count", "x"],
        ["docker_volume_size", 0],
        ["docker_volume_size", "x"],
        ["create_timeout", -1],
        ["create_timeout", "x"],
        ["labels", "a=b"],
        ["labels", []],
        ["floating_ip_enabled", "maybe"],
        ["master_lb_enabled", "maybe"],
        ["merge_labels", "maybe"],
        ["keypair", ""],
        ["flavor_id", ""],
        ["unknown", 1],
      ] as const
    ).map(([name, value]) => cluster(`${name} is ${shown(value)}`, { [name]: value, cluster_template_id: "{id}" })),
    cluster("a flavor that is not there", { cluster_template_id: "{id}", flavor_id: "no-such-flavor" }),
    cluster("a keypair that is not there", { cluster_template_id: "{id}", keypair: "no-such-keypair" }),
    cluster("two masters without a load balancer", { cluster_template_id: "{id}", master_count: 2 }),
    cluster(
      "no node at 1.9",
      { cluster_template_id: "{id}", node_count: 0 },
      {
        headers: { "openstack-api-version": "container-infra 1.9" },
      },
    ),
    { says: "no body", call: "POST /clusters", headers: newest },
    { says: "a body that is no JSON", call: "POST /clusters", headers: newest, body: "{" },
    { says: "deletes one that is not there", call: "DELETE /clusters/{nothing}", headers: newest },
    {
      says: "changes one that is not there",
      call: "PATCH /clusters/{nothing}",
      headers: newest,
      body: [op("/node_count", "replace", 2)],
    },
    {
      says: "changes the status",
      call: "PATCH /clusters/{nothing}",
      headers: newest,
      body: [op("/status", "replace", "x")],
    },
    {
      says: "changes the stack",
      call: "PATCH /clusters/{nothing}",
      headers: newest,
      body: [op("/stack_id", "replace", "x")],
    },
    {
      says: "resizes one that is not there",
      call: "POST /clusters/{nothing}/actions/resize",
      headers: newest,
      body: { node_count: 2 },
    },
    { says: "resizes by nothing", call: "POST /clusters/{nothing}/actions/resize", headers: newest, body: {} },
    {
      says: "resizes at 1.6",
      call: "POST /clusters/{nothing}/actions/resize",
      headers: { "openstack-api-version": "container-infra 1.6" },
      body: { node_count: 2 },
    },
    {
      says: "upgrades one that is not there",
      call: "POST /clusters/{nothing}/actions/upgrade",
      headers: newest,
      body: { cluster_template: "{id}" },
    },
    {
      says: "upgrades to nothing",
      call: "POST /clusters/{nothing}/actions/upgrade",
      headers: newest,
      body: {},
    },
    get("node groups of one that is not there", "/clusters/{nothing}/nodegroups"),
    get("a node group of one that is not there", "/clusters/{nothing}/nodegroups/x"),
    {
      says: "makes a node group of one that is not there",
      call: "POST /clusters/{nothing}/nodegroups",
      headers: newest,
      body: { name: "g" },
    },
    get("the certificate of one that is not there", "/certificates/{nothing}"),
    {
      says: "signs for one that is not there",
      call: "POST /certificates",
      headers: newest,
      body: { cluster_uuid: "{nothing}", csr: "x" },
    },
    { says: "signs nothing", call: "POST /certificates", headers: newest, body: {} },
    { says: "rotates that of one that is not there", call: "PATCH /certificates/{nothing}", headers: newest },
    get("federations", "/federations"),
    get("a federation that is not there", "/federations/{nothing}"),
  ],
};

/** Versions, quotas, statistics, and what is refused of clusters. */
export const otherGroups: readonly RawGroup[] = [versions, quotas, clusters];
