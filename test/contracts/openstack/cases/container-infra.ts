import type { RawCase, RawGroup } from "../case.ts";
import { otherGroups } from "./container-infra-others.ts";
import { get, kept, newest, op, service, shown, template } from "./container-infra-requests.ts";

const patch = (says: string, body: unknown, rest: Partial<RawCase> = {}): RawCase => ({
  says,
  call: "PATCH /clustertemplates/{id}",
  headers: newest,
  body,
  ...rest,
});

/** Each attribute with values that it may have and values that it may not. */
const attributes: readonly (readonly [attribute: string, values: readonly unknown[]])[] = [
  ["name", ["", "x".repeat(255), "x".repeat(256), 7, "with space"]],
  ["coe", ["swarm", "mesos", "", null, 1]],
  ["image_id", ["no-such-image", "", null, "7f0e2f1c-3b56-4a61-9d4c-5a0f4b3e2d10", 5]],
  ["flavor_id", ["m1.small", "no-such-flavor", ""]],
  ["master_flavor_id", ["m1.small", "no-such-flavor"]],
  ["external_network_id", ["no-such-network", "", null]],
  ["keypair_id", ["no-such-keypair"]],
  ["dns_nameserver", ["8.8.8.8", "8.8.8.8,1.1.1.1", "no-address", "8.8.8.8,x", "2001:db8::1"]],
  ["network_driver", ["flannel", "calico", "no-such-driver", ""]],
  ["volume_driver", ["cinder", "rexray", "no-such-driver"]],
  ["docker_volume_size", [1, "5", 0, -1, "x", "", 2.5, true]],
  ["docker_storage_driver", ["overlay2", "devicemapper", "no-such-driver"]],
  ["apiserver_port", [1023, 1024, 65_535, 65_536, "8080", "x"]],
  ["server_type", ["vm", "container", ""]],
  ["labels", [{ a: "b" }, {}, "a=b", [], { a: 1 }, { a: true }, { a: null }, { "": "x" }, 7]],
  ["registry_enabled", [true, "yes", "maybe", 1, "", "False"]],
  ["tls_disabled", ["maybe"]],
  ["master_lb_enabled", [true, "no", "maybe"]],
  ["floating_ip_enabled", [false, "on", "maybe", 7]],
  ["http_proxy", ["http://proxy:3128", "", "x".repeat(256)]],
  ["no_proxy", ["a,b", 7]],
  ["insecure_registry", ["10.0.0.1:5000", ""]],
  ["cluster_distro", ["fedora-coreos", ""]],
  ["fixed_network", ["{run}-net", ""]],
  ["fixed_subnet", ["{run}-subnet"]],
  ["tags", ["a,b", "", 7]],
  ["public", [true, "maybe"]],
  ["hidden", [true, false]],
  ["uuid", ["{nothing}", "x"]],
  ["project_id", ["{altProject}"]],
  ["links", [[], "x"]],
  ["unknown", ["x"]],
];

const bodies: RawGroup = {
  name: "attributes of templates",
  service,
  cases: attributes.flatMap(([attribute, values]) =>
    values.map((value) =>
      template(
        `a create of a template checks ${attribute} = ${shown(value)}`,
        { [attribute]: value },
        value === undefined ? {} : { exact: [attribute] },
      ),
    ),
  ),
};

const lives: RawGroup = {
  name: "templates",
  service,
  cases: [
    kept,
    get("a template is shown by its ID", "/clustertemplates/{id}", {
      exact: ["name", "coe", "cluster_distro", "labels", "public"],
    }),
    get("a template is shown by its name", "/clustertemplates/{run}-t", { exact: ["name"] }),
    get("a reader is shown a template", "/clustertemplates/{id}", { as: "reader" }),
    get("an administrator is shown a template", "/clustertemplates/{id}", { as: "admin" }),
    get("a template is not shown to another project", "/clustertemplates/{id}", { as: "alt" }),
    get("templates are listed without details", "/clustertemplates"),
    get("templates are listed with details", "/clustertemplates/detail"),
    get("a missing template ID is not found", "/clustertemplates/{nothing}"),
    get("a missing template name is not found", "/clustertemplates/{run}-none"),
    get("a path with a segment too many is not found", "/clustertemplates/{id}/more"),
    template(
      "a reader creates a template where the policy permits it",
      { name: "{run}-r" },
      { as: "reader", keep: { read: "uuid" }, undo: "DELETE /clustertemplates/{read}" },
    ),
    { says: "an empty object creates no template", call: "POST /clustertemplates", headers: newest, body: {} },
    {
      says: "a missing body creates no template",
      call: "POST /clustertemplates",
      headers: { ...newest, "content-type": "application/json" },
    },
    { says: "a body that is not JSON creates no template", call: "POST /clustertemplates", headers: newest, body: "{" },
    { says: "a body that is a list creates no template", call: "POST /clustertemplates", headers: newest, body: [] },
    {
      says: "a body that is a string creates no template",
      call: "POST /clustertemplates",
      headers: newest,
      body: '"text"',
    },
    { says: "a PUT of a template is rejected", call: "PUT /clustertemplates/{id}", headers: newest, body: {} },
    { says: "a DELETE of all templates is rejected", call: "DELETE /clustertemplates", headers: newest },
    template(
      "a second template of the same name is created",
      {},
      { keep: { second: "uuid" }, undo: "DELETE /clustertemplates/{second}" },
    ),
    get("a template name that is not unique is rejected", "/clustertemplates/{run}-t"),
    { says: "a template is deleted", call: "DELETE /clustertemplates/{second}", headers: newest },
    { says: "a deleted template is not deleted again", call: "DELETE /clustertemplates/{second}", headers: newest },
    {
      says: "a reader deletes a template where the policy permits it",
      call: "DELETE /clustertemplates/{id}",
      headers: newest,
      as: "reader",
    },
    {
      says: "a template is not deleted by another project",
      call: "DELETE /clustertemplates/{id}",
      headers: newest,
      as: "alt",
    },
    {
      says: "a deletion with a query parameter is rejected",
      call: "DELETE /clustertemplates/{id}?force=1",
      headers: newest,
    },
    {
      says: "a request without a token is rejected",
      call: "GET /clustertemplates",
      headers: { ...newest, "x-auth-token": "none" },
      statusOnly: true,
    },
    {
      says: "a request with an invalid token is rejected",
      call: "GET /clustertemplates",
      headers: { ...newest, "x-auth-token": "x" },
      statusOnly: true,
    },
  ],
};

const patches: RawGroup = {
  name: "patches of templates",
  service,
  cases: [
    kept,
    patch("the name of a template is replaced", [op("/name", "replace", "{run}-u")], { exact: ["name"] }),
    patch("labels in the form of Horizon are replaced", [op("/labels", "replace", "{'a': 'b', 'c': 'None'}")], {
      exact: ["labels"],
    }),
    patch("a label of a template is added", [op("/labels/f", "add", "g")], { exact: ["labels"] }),
    patch("a label of a template is replaced", [op("/labels/f", "replace", "h")], { exact: ["labels"] }),
    patch("a label of a template is removed", [op("/labels/f", "remove")], { exact: ["labels"] }),
    patch("a missing label is not removed", [op("/labels/none", "remove")]),
    patch("labels that are no literal are rejected", [op("/labels", "replace", "{'a'")]),
    patch("a volume size in a string is replaced", [op("/docker_volume_size", "replace", "7")], {
      exact: ["docker_volume_size"],
    }),
    patch("a volume size that is no number is rejected", [op("/docker_volume_size", "replace", "x")]),
    patch("a volume size of zero is rejected", [op("/docker_volume_size", "replace", 0)]),
    patch("the volume size of a template is removed", [op("/docker_volume_size", "remove")], {
      exact: ["docker_volume_size"],
    }),
    patch("a volume size is added to a template without one", [op("/docker_volume_size", "add", 3)], {
      exact: ["docker_volume_size"],
    }),
    patch("a volume size is not added to a template with one", [op("/docker_volume_size", "add", 4)]),
    patch("a flag in a string is replaced", [op("/registry_enabled", "replace", "True")], {
      exact: ["registry_enabled"],
    }),
    patch("a flag that is no boolean is rejected", [op("/registry_enabled", "replace", "maybe")]),
    patch("a missing flavor is rejected", [op("/flavor_id", "replace", "no-such-flavor")]),
    patch("a missing image is rejected", [op("/image_id", "replace", "no-such-image")]),
    patch("a missing external network is rejected", [op("/external_network_id", "replace", "no-such-network")]),
    patch("an unknown network driver is rejected", [op("/network_driver", "replace", "no-such-driver")]),
    patch("an unknown volume driver is rejected", [op("/volume_driver", "replace", "no-such-driver")]),
    patch("a missing key pair is rejected", [op("/keypair_id", "replace", "no-such-keypair")]),
    patch("a member does not make a template public", [op("/public", "replace", true)]),
    patch("a member does not hide a template", [op("/hidden", "replace", true)]),
    patch("the patch operation move is rejected", [{ op: "move", from: "/name", path: "/labels" }]),
    patch("the patch operation copy is rejected", [{ op: "copy", from: "/name", path: "/labels" }]),
    patch("the patch operation test is rejected", [op("/name", "test", "x")]),
    patch("an unknown attribute is not added", [op("/unknown", "add", "x")]),
    patch("an unknown attribute is not replaced", [op("/unknown", "replace", "x")]),
    patch("an unknown attribute is not removed", [op("/unknown", "remove")]),
    patch("the ID of a template is not replaced", [op("/uuid", "replace", "{nothing}")]),
    patch("the project of a template is not replaced", [op("/project_id", "replace", "{altProject}")]),
    patch("the user of a template is not replaced", [op("/user_id", "replace", "{nothing}")]),
    patch("the time of creation is not removed", [op("/created_at", "remove")]),
    patch("the links of a template are not replaced", [op("/links", "replace", [])]),
    patch("the image of a template is not removed", [op("/image_id", "remove")]),
    patch("the network driver of a template is not removed", [op("/network_driver", "remove")]),
    patch("the coe of a template is not removed", [op("/coe", "remove")]),
    patch("a remove of the name keeps the template valid", [op("/name", "remove")]),
    patch("an operation without a value is rejected", [{ path: "/name", op: "replace" }]),
    patch("an operation without a path is rejected", [{ op: "replace", value: "x" }]),
    patch("an operation without its op is rejected", [{ path: "/name", value: "x" }]),
    patch("a path without a slash is rejected", [op("name", "replace", "x")]),
    patch("an empty path is rejected", [op("", "replace", "x")]),
    patch("a path with a space is rejected", [op("/na me", "replace", "x")]),
    patch("a path that is too deep is rejected", [op("/labels/a/b", "add", "x")]),
    patch("an operation with an unknown field is rejected", [
      { path: "/name", op: "replace", value: "{run}-v", more: 1 },
    ]),
    patch("an empty list of operations changes nothing", []),
    patch("a patch that is an object is rejected", { path: "/name", op: "replace", value: "x" }),
    patch("a patch that is a list of strings is rejected", ["x"]),
    { says: "a patch without a body is rejected", call: "PATCH /clustertemplates/{id}", headers: newest },
    {
      says: "a patch of a missing template is rejected",
      call: "PATCH /clustertemplates/{nothing}",
      headers: newest,
      body: [op("/name", "replace", "x")],
    },
  ],
};

const publishing: RawGroup = {
  name: "publishing templates",
  service,
  cases: [
    kept,
    patch("an administrator makes a template public", [op("/public", "replace", true)], {
      as: "admin",
      exact: ["public"],
    }),
    get("another project is shown a public template", "/clustertemplates/{id}", { as: "alt" }),
    patch("another project does not change a public template", [op("/name", "replace", "x")], { as: "alt" }),
    patch("an administrator hides a template", [op("/hidden", "replace", true)], { as: "admin", exact: ["hidden"] }),
    get("another project is not shown a hidden template", "/clustertemplates/{id}", { as: "alt" }),
    patch(
      "an administrator makes a template private and visible",
      [op("/public", "replace", false), op("/hidden", "replace", false)],
      {
        as: "admin",
        exact: ["public", "hidden"],
      },
    ),
    patch("a reader changes a template where the policy permits it", [op("/name", "replace", "x")], { as: "reader" }),
    patch("labels as an object in a patch are checked", [op("/labels", "replace", { d: "e" })], { exact: ["labels"] }),
  ],
};

const page = (query: string) =>
  get(`GET /clustertemplates checks ${query}`, `/clustertemplates?${query}`, { statusOnly: false });

const pages: RawGroup = {
  name: "pages of templates",
  service,
  cases: [
    template(
      "the first of three templates is created",
      { name: "{run}-a" },
      { keep: { a: "uuid" }, undo: "DELETE /clustertemplates/{a}" },
    ),
    template(
      "the second of three templates is created",
      { name: "{run}-b" },
      { keep: { b: "uuid" }, undo: "DELETE /clustertemplates/{b}" },
    ),
    template(
      "the third of three templates is created",
      { name: "{run}-c" },
      { keep: { c: "uuid" }, undo: "DELETE /clustertemplates/{c}" },
    ),
    get("a page of two templates is listed", "/clustertemplates?limit=2", {
      exact: ["clustertemplates.0.name", "clustertemplates.1.name", "next"],
    }),
    get("a page of templates after a marker is listed", "/clustertemplates?limit=2&marker={b}", {
      exact: ["clustertemplates.0.name", "next"],
    }),
    get("a page of templates in descending order is listed", "/clustertemplates?sort_key=name&sort_dir=desc&limit=1", {
      exact: ["clustertemplates.0.name", "next"],
    }),
    get(
      "a page in descending order after a marker is listed",
      "/clustertemplates?sort_key=name&sort_dir=desc&marker={b}&limit=1",
      {
        exact: ["clustertemplates.0.name", "next"],
      },
    ),
    get("a page of templates with details is listed", "/clustertemplates/detail?limit=1", { exact: ["next"] }),
    ...[
      "limit=0",
      "limit=-1",
      "limit=x",
      "limit=1001",
      "limit=",
      "marker={nothing}",
      "marker=x",
      "sort_key=uuid",
      "sort_key=nothing",
      "sort_dir=up",
      "sort_key=labels",
      "unknown=1",
    ].map(page),
  ],
};

/** Everything that Magnum answers without a cluster. */
export const containerInfraGroups: readonly RawGroup[] = [bodies, lives, patches, publishing, pages, ...otherGroups];
