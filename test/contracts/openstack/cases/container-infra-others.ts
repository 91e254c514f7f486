import type { RawCase, RawGroup, Account } from "../case.ts";
import { get, kept, newest, op, service, shown } from "./container-infra-requests.ts";

const version = (says: string, value: string, rest: Partial<RawCase> = {}): RawCase =>
  get(says, "/clustertemplates", { headers: { "openstack-api-version": value }, ...rest });

const versions: RawGroup = {
  name: "versions",
  service,
  cases: [
    get("Magnum lists its versions", "^/", { statusOnly: true }),
    get("Magnum shows version 1", "", { statusOnly: true }),
    get("GET /clustertemplates accepts a request without a version", "/clustertemplates", { headers: {} }),
    ...Array.from({ length: 10 }, (_, at) =>
      version(`GET /clustertemplates reads version 1.${at + 1}`, `container-infra 1.${at + 1}`),
    ),
    version("GET /clustertemplates reads version 1.0", "container-infra 1.0"),
    version("GET /clustertemplates reads version 1.11", "container-infra 1.11"),
    version("GET /clustertemplates reads version 1.99", "container-infra 1.99"),
    version("GET /clustertemplates reads version 2.1", "container-infra 2.1"),
    version("GET /clustertemplates reads version latest", "container-infra latest"),
    version(
      "GET /clustertemplates reads the service type container-infrastructure-management",
      "container-infrastructure-management 1.5",
    ),
    version("GET /clustertemplates reads the service type container-infrastructure", "container-infrastructure 1.5"),
    version("the version of another service is rejected", "compute 1.5"),
    version("a version without a service is rejected", "GET /clustertemplates reads version 1.5"),
    version("a version that is no number is rejected", "container-infra x"),
    version("a version of three parts is rejected", "container-infra 1.5.1"),
    version("an empty version header is rejected", ""),
    ...(["stats", "quotas", "clusters/{nothing}/nodegroups"] as const).flatMap((path) =>
      ["1.1", "1.3", "1.4", "1.6", "1.8", "1.9"].map((each) =>
        get(`GET /${path.split("/").at(-1)} reads version ${each}`, `/${path}`, {
          headers: { "openstack-api-version": `container-infra ${each}` },
        }),
      ),
    ),
    get("an unknown path is not found", "/nothing"),
    get("a path without a version is served", "^/clustertemplates"),
    get("the health check is served", "^/healthcheck", { statusOnly: true }),
  ],
};

const as = (who: Account): Partial<RawCase> => ({ as: who });

const quotas: RawGroup = {
  name: "quotas and statistics",
  service,
  cases: [
    get("a member does not list quotas", "/quotas"),
    get("a member does not list quotas of all projects", "/quotas?all_tenants=True"),
    get("an administrator lists quotas of all projects", "/quotas?all_tenants=True", {
      ...as("admin"),
      statusOnly: true,
    }),
    get("a member is shown the quota of its project", "/quotas/{project}/Cluster", {
      exact: ["hard_limit", "resource"],
    }),
    get("a member is not shown the quota of another project", "/quotas/{altProject}/Cluster"),
    get("a quota of an unknown resource is shown", "/quotas/{project}/Nothing"),
    {
      says: "a member creates no quota",
      call: "POST /quotas",
      headers: newest,
      body: { project_id: "{project}", hard_limit: 5 },
    },
    {
      says: "an administrator creates a quota",
      call: "POST /quotas",
      headers: newest,
      body: { project_id: "{altProject}", resource: "Cluster", hard_limit: 9 },
      ...as("admin"),
      exact: ["hard_limit", "resource"],
      keep: { quota: "id" },
      undo: "DELETE /quotas/{altProject}/Cluster",
    },
    {
      says: "a quota is not created twice",
      call: "POST /quotas",
      headers: newest,
      body: { project_id: "{altProject}", resource: "Cluster", hard_limit: 9 },
      ...as("admin"),
    },
    get("the quota of a project is shown to its member", "/quotas/{altProject}/Cluster", {
      ...as("alt"),
      exact: ["hard_limit"],
    }),
    get("a member of another project does not list quotas", "/quotas", {
      ...as("alt"),
      exact: ["quotas.0.hard_limit"],
    }),
    ...(
      [
        ["a quota without a project is not created", { hard_limit: 5 }],
        ["a negative limit is rejected", { project_id: "{adminProject}", hard_limit: -1 }],
        ["a limit that is no number is rejected", { project_id: "{adminProject}", hard_limit: "x" }],
        [
          "an unknown resource of a quota is rejected",
          { project_id: "{adminProject}", resource: "Nothing", hard_limit: 5 },
        ],
        ["an unknown attribute of a quota is rejected", { project_id: "{adminProject}", unknown: 5 }],
        ["an empty object creates no quota", {}],
      ] as const
    ).map(([says, body]): RawCase => ({ says, call: "POST /quotas", headers: newest, body, ...as("admin") })),
    {
      says: "an administrator changes a quota",
      call: "PATCH /quotas/{altProject}/Cluster",
      headers: newest,
      body: { project_id: "{altProject}", resource: "Cluster", hard_limit: 11 },
      ...as("admin"),
      exact: ["hard_limit"],
    },
    {
      says: "a limit in a string is accepted",
      call: "PATCH /quotas/{altProject}/Cluster",
      headers: newest,
      body: { hard_limit: "12" },
      ...as("admin"),
      exact: ["hard_limit"],
    },
    {
      says: "a member does not change a quota",
      call: "PATCH /quotas/{altProject}/Cluster",
      headers: newest,
      body: { hard_limit: 12 },
    },
    {
      says: "a missing quota is not changed",
      call: "PATCH /quotas/{nothing}/Cluster",
      headers: newest,
      body: { hard_limit: 12 },
      ...as("admin"),
    },
    {
      says: "a missing quota is not deleted",
      call: "DELETE /quotas/{nothing}/Cluster",
      headers: newest,
      ...as("admin"),
    },
    { says: "a member does not delete a quota", call: "DELETE /quotas/{altProject}/Cluster", headers: newest },
    {
      says: "an administrator deletes a quota",
      call: "DELETE /quotas/{altProject}/Cluster",
      headers: newest,
      ...as("admin"),
    },
    get("a member does not list quotas with limit=0", "/quotas?limit=0"),
    get("a member does not list quotas with an unknown sort key", "/quotas?sort_key=nothing"),
    get("an unknown parameter of quotas is rejected", "/quotas?unknown=1"),
    get("an all_tenants that is no flag is rejected", "/quotas?all_tenants=maybe"),
    get("the statistics of clusters are shown", "/stats"),
    get("the statistics of a project are shown", "/stats?project_id={project}&type=cluster", {
      exact: ["clusters", "nodes"],
    }),
    get("a member is not shown statistics of another project", "/stats?project_id={altProject}&type=cluster"),
    get(
      "an administrator is shown statistics of another project",
      "/stats?project_id={altProject}&type=cluster",
      as("admin"),
    ),
    get("statistics of an unknown type are rejected", "/stats?type=nothing"),
    get("an unknown parameter of statistics is rejected", "/stats?unknown=1"),
    get("a member does not list services", "/mservices"),
    get("an administrator lists services", "/mservices", {
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
    get("clusters are listed without details", "/clusters"),
    get("clusters are listed with details", "/clusters/detail"),
    get("a missing cluster ID is not found", "/clusters/{nothing}"),
    get("a missing cluster name is not found", "/clusters/{run}-none"),
    get("a page of zero clusters is rejected", "/clusters?limit=0"),
    get("an unknown sort key of clusters is rejected", "/clusters?sort_key=nothing"),
    get("a list of clusters checks a missing marker", "/clusters?marker={nothing}"),
    cluster("a missing template ID is rejected", {}),
    cluster("a missing template name is rejected", { cluster_template_id: "{run}-none" }),
    cluster(
      "a missing template is rejected at version 1.9",
      {},
      { headers: { "openstack-api-version": "container-infra 1.9" } },
    ),
    {
      says: "a cluster without a template is rejected",
      call: "POST /clusters",
      headers: newest,
      body: { name: "{run}-c" },
    },
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
    ).map(([name, value]) =>
      cluster(`a create of a cluster checks ${name} = ${shown(value)}`, { [name]: value, cluster_template_id: "{id}" }),
    ),
    cluster("a missing flavor of a cluster is rejected", { cluster_template_id: "{id}", flavor_id: "no-such-flavor" }),
    cluster("a missing key pair of a cluster is rejected", { cluster_template_id: "{id}", keypair: "no-such-keypair" }),
    cluster("two masters without a load balancer are rejected", { cluster_template_id: "{id}", master_count: 2 }),
    cluster(
      "a cluster without nodes is rejected at version 1.9",
      { cluster_template_id: "{id}", node_count: 0 },
      {
        headers: { "openstack-api-version": "container-infra 1.9" },
      },
    ),
    { says: "a missing body creates no cluster", call: "POST /clusters", headers: newest },
    { says: "a body that is not JSON creates no cluster", call: "POST /clusters", headers: newest, body: "{" },
    { says: "a missing cluster is not deleted", call: "DELETE /clusters/{nothing}", headers: newest },
    {
      says: "a missing cluster is not changed",
      call: "PATCH /clusters/{nothing}",
      headers: newest,
      body: [op("/node_count", "replace", 2)],
    },
    {
      says: "the status of a missing cluster is not changed",
      call: "PATCH /clusters/{nothing}",
      headers: newest,
      body: [op("/status", "replace", "x")],
    },
    {
      says: "the stack of a cluster is not changed",
      call: "PATCH /clusters/{nothing}",
      headers: newest,
      body: [op("/stack_id", "replace", "x")],
    },
    {
      says: "a missing cluster is not resized",
      call: "POST /clusters/{nothing}/actions/resize",
      headers: newest,
      body: { node_count: 2 },
    },
    {
      says: "a resize without a count is rejected",
      call: "POST /clusters/{nothing}/actions/resize",
      headers: newest,
      body: {},
    },
    {
      says: "a resize is rejected at version 1.6",
      call: "POST /clusters/{nothing}/actions/resize",
      headers: { "openstack-api-version": "container-infra 1.6" },
      body: { node_count: 2 },
    },
    {
      says: "a missing cluster is not upgraded",
      call: "POST /clusters/{nothing}/actions/upgrade",
      headers: newest,
      body: { cluster_template: "{id}" },
    },
    {
      says: "an upgrade without a template is rejected",
      call: "POST /clusters/{nothing}/actions/upgrade",
      headers: newest,
      body: {},
    },
    get("node groups of a missing cluster are not found", "/clusters/{nothing}/nodegroups"),
    get("a node group of a missing cluster is not found", "/clusters/{nothing}/nodegroups/x"),
    {
      says: "a node group of a missing cluster is not created",
      call: "POST /clusters/{nothing}/nodegroups",
      headers: newest,
      body: { name: "g" },
    },
    get("the certificate of a missing cluster is not found", "/certificates/{nothing}"),
    {
      says: "a certificate for a missing cluster is not signed",
      call: "POST /certificates",
      headers: newest,
      body: { cluster_uuid: "{nothing}", csr: "x" },
    },
    { says: "an empty signing request is rejected", call: "POST /certificates", headers: newest, body: {} },
    {
      says: "the certificate of a missing cluster is not rotated",
      call: "PATCH /certificates/{nothing}",
      headers: newest,
    },
    get("federations are listed for a member", "/federations"),
    get("a missing federation is not found", "/federations/{nothing}"),
  ],
};

/** Versions, quotas, statistics, and what is refused of clusters. */
export const otherGroups: readonly RawGroup[] = [versions, quotas, clusters];
