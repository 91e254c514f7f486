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
        `${attribute} is ${shown(value)}`,
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
    get("it is shown by its id", "/clustertemplates/{id}", {
      exact: ["name", "coe", "cluster_distro", "labels", "public"],
    }),
    get("it is shown by its name", "/clustertemplates/{run}-t", { exact: ["name"] }),
    get("a reader sees it", "/clustertemplates/{id}", { as: "reader" }),
    get("the administrator sees it", "/clustertemplates/{id}", { as: "admin" }),
    get("another project does not see it", "/clustertemplates/{id}", { as: "alt" }),
    get("templates in short", "/clustertemplates"),
    get("templates in detail", "/clustertemplates/detail"),
    get("one that is not there, by id", "/clustertemplates/{nothing}"),
    get("one that is not there, by name", "/clustertemplates/{run}-none"),
    get("a field too many in the path", "/clustertemplates/{id}/more"),
    template(
      "a reader creates one",
      { name: "{run}-r" },
      { as: "reader", keep: { read: "uuid" }, undo: "DELETE /clustertemplates/{read}" },
    ),
    { says: "an empty body", call: "POST /clustertemplates", headers: newest, body: {} },
    { says: "no body", call: "POST /clustertemplates", headers: { ...newest, "content-type": "application/json" } },
    { says: "a body that is no JSON", call: "POST /clustertemplates", headers: newest, body: "{" },
    { says: "a body that is a list", call: "POST /clustertemplates", headers: newest, body: [] },
    { says: "a body that is text", call: "POST /clustertemplates", headers: newest, body: '"text"' },
    { says: "a PUT", call: "PUT /clustertemplates/{id}", headers: newest, body: {} },
    { says: "a DELETE of all", call: "DELETE /clustertemplates", headers: newest },
    template(
      "a second one of the same name",
      {},
      { keep: { second: "uuid" }, undo: "DELETE /clustertemplates/{second}" },
    ),
    get("a name that two have", "/clustertemplates/{run}-t"),
    { says: "one of them is deleted", call: "DELETE /clustertemplates/{second}", headers: newest },
    { says: "it is deleted again", call: "DELETE /clustertemplates/{second}", headers: newest },
    { says: "a reader deletes", call: "DELETE /clustertemplates/{id}", headers: newest, as: "reader" },
    { says: "another project deletes", call: "DELETE /clustertemplates/{id}", headers: newest, as: "alt" },
    { says: "a deletion with a parameter", call: "DELETE /clustertemplates/{id}?force=1", headers: newest },
    {
      says: "no token",
      call: "GET /clustertemplates",
      headers: { ...newest, "x-auth-token": "none" },
      statusOnly: true,
    },
    {
      says: "a token that is none",
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
    patch("a name", [op("/name", "replace", "{run}-u")], { exact: ["name"] }),
    patch("labels as Horizon sends them", [op("/labels", "replace", "{'a': 'b', 'c': 'None'}")], { exact: ["labels"] }),
    patch("a label more", [op("/labels/f", "add", "g")], { exact: ["labels"] }),
    patch("a label is replaced", [op("/labels/f", "replace", "h")], { exact: ["labels"] }),
    patch("a label less", [op("/labels/f", "remove")], { exact: ["labels"] }),
    patch("a label that is not there is removed", [op("/labels/none", "remove")]),
    patch("labels that are no literal", [op("/labels", "replace", "{'a'")]),
    patch("a size as text", [op("/docker_volume_size", "replace", "7")], { exact: ["docker_volume_size"] }),
    patch("a size that is none", [op("/docker_volume_size", "replace", "x")]),
    patch("a size of nothing", [op("/docker_volume_size", "replace", 0)]),
    patch("a size is removed", [op("/docker_volume_size", "remove")], { exact: ["docker_volume_size"] }),
    patch("a size is added", [op("/docker_volume_size", "add", 3)], { exact: ["docker_volume_size"] }),
    patch("a size is added to one", [op("/docker_volume_size", "add", 4)]),
    patch("a flag as text", [op("/registry_enabled", "replace", "True")], { exact: ["registry_enabled"] }),
    patch("a flag that is none", [op("/registry_enabled", "replace", "maybe")]),
    patch("a flavor that is not there", [op("/flavor_id", "replace", "no-such-flavor")]),
    patch("an image that is not there", [op("/image_id", "replace", "no-such-image")]),
    patch("an external network that is not there", [op("/external_network_id", "replace", "no-such-network")]),
    patch("a network driver that is none", [op("/network_driver", "replace", "no-such-driver")]),
    patch("a volume driver that is none", [op("/volume_driver", "replace", "no-such-driver")]),
    patch("a keypair that is not there", [op("/keypair_id", "replace", "no-such-keypair")]),
    patch("it is made public", [op("/public", "replace", true)]),
    patch("it is hidden", [op("/hidden", "replace", true)]),
    patch("move", [{ op: "move", from: "/name", path: "/labels" }]),
    patch("copy", [{ op: "copy", from: "/name", path: "/labels" }]),
    patch("test", [op("/name", "test", "x")]),
    patch("an attribute that is unknown is added", [op("/unknown", "add", "x")]),
    patch("an attribute that is unknown is replaced", [op("/unknown", "replace", "x")]),
    patch("an attribute that is unknown is removed", [op("/unknown", "remove")]),
    patch("the id", [op("/uuid", "replace", "{nothing}")]),
    patch("the project", [op("/project_id", "replace", "{altProject}")]),
    patch("the user", [op("/user_id", "replace", "{nothing}")]),
    patch("the time of its creation", [op("/created_at", "remove")]),
    patch("links", [op("/links", "replace", [])]),
    patch("the image is removed", [op("/image_id", "remove")]),
    patch("the driver of networks is removed", [op("/network_driver", "remove")]),
    patch("the kind of orchestration is removed", [op("/coe", "remove")]),
    patch("the name is removed", [op("/name", "remove")]),
    patch("no value", [{ path: "/name", op: "replace" }]),
    patch("no path", [{ op: "replace", value: "x" }]),
    patch("no operation", [{ path: "/name", value: "x" }]),
    patch("a path without a slash", [op("name", "replace", "x")]),
    patch("a path of nothing", [op("", "replace", "x")]),
    patch("a path with a space", [op("/na me", "replace", "x")]),
    patch("a path too deep", [op("/labels/a/b", "add", "x")]),
    patch("a field too many", [{ path: "/name", op: "replace", value: "{run}-v", more: 1 }]),
    patch("no operations", []),
    patch("an object", { path: "/name", op: "replace", value: "x" }),
    patch("a list of text", ["x"]),
    { says: "no body", call: "PATCH /clustertemplates/{id}", headers: newest },
    {
      says: "one that is not there",
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
    patch("the administrator makes it public", [op("/public", "replace", true)], { as: "admin", exact: ["public"] }),
    get("another project sees it now", "/clustertemplates/{id}", { as: "alt" }),
    patch("another project changes it", [op("/name", "replace", "x")], { as: "alt" }),
    patch("the administrator hides it", [op("/hidden", "replace", true)], { as: "admin", exact: ["hidden"] }),
    get("another project sees it no more", "/clustertemplates/{id}", { as: "alt" }),
    patch("the administrator takes both back", [op("/public", "replace", false), op("/hidden", "replace", false)], {
      as: "admin",
      exact: ["public", "hidden"],
    }),
    patch("a reader changes it", [op("/name", "replace", "x")], { as: "reader" }),
    patch("labels as an object", [op("/labels", "replace", { d: "e" })], { exact: ["labels"] }),
  ],
};

const page = (query: string) => get(`with ${query}`, `/clustertemplates?${query}`, { statusOnly: false });

const pages: RawGroup = {
  name: "pages of templates",
  service,
  cases: [
    template("one template", { name: "{run}-a" }, { keep: { a: "uuid" }, undo: "DELETE /clustertemplates/{a}" }),
    template("another", { name: "{run}-b" }, { keep: { b: "uuid" }, undo: "DELETE /clustertemplates/{b}" }),
    template("a third", { name: "{run}-c" }, { keep: { c: "uuid" }, undo: "DELETE /clustertemplates/{c}" }),
    get("a page of two", "/clustertemplates?limit=2", {
      exact: ["clustertemplates.0.name", "clustertemplates.1.name", "next"],
    }),
    get("the page after", "/clustertemplates?limit=2&marker={b}", { exact: ["clustertemplates.0.name", "next"] }),
    get("by name, backwards", "/clustertemplates?sort_key=name&sort_dir=desc&limit=1", {
      exact: ["clustertemplates.0.name", "next"],
    }),
    get("by name, the page after", "/clustertemplates?sort_key=name&sort_dir=desc&marker={b}&limit=1", {
      exact: ["clustertemplates.0.name", "next"],
    }),
    get("in detail, a page of one", "/clustertemplates/detail?limit=1", { exact: ["next"] }),
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
