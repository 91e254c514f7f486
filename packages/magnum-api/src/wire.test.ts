import { describe, expect, it } from "vitest";
import { labelSettings, refusedLabel, unusedLabels } from "./cluster/labels.ts";
import { namespaceOf, objectNameOf } from "./cluster/names.ts";
import { pageOf, readPage } from "./call/page.ts";
import { readVersion } from "./call/version.ts";
import { errorBody, MagnumError } from "./wire/error.ts";
import { readFields, type Fields } from "./wire/fields.ts";
import { labelDifferences } from "./wire/label-differences.ts";
import { applyPatch, readPatch } from "./wire/patch.ts";
import { LiteralError, pythonRepr, readLiteral } from "./wire/python.ts";

function refusal(work: () => unknown): MagnumError {
  try {
    work();
  } catch (error) {
    if (error instanceof MagnumError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("the reader of Python literals", () => {
  it.each<[string, unknown]>([
    ["{'a': '1', 'b': None}", { a: "1", b: null }],
    ['{"quoted": True, "n": -2}', { quoted: true, n: -2 }],
    ["[]", []],
    ["['it\\'s', 1.5,]", ["it's", 1.5]],
    [" { } ", {}],
  ])("reads %s", (text, expected) => expect(readLiteral(text)).toEqual(expected));

  it.each(["{'a", "{'a' 1}", "__import__('os')", "{'a': 1} x", `${"[".repeat(40)}`, "1".repeat(70_000)])(
    "refuses %.20s",
    (text) => expect(() => readLiteral(text)).toThrow(LiteralError),
  );

  it("shows values as Python does", () => {
    expect(pythonRepr({ path: "/a", op: "add", value: [true, null, 1, "it's"] })).toBe(
      `{'path': '/a', 'op': 'add', 'value': [True, None, 1, "it's"]}`,
    );
  });
});

describe("attributes of a body", () => {
  const fields: Fields = {
    name: { type: "text", min: 1, max: 5 },
    port: { type: "int", min: 1024, max: 65535 },
    open: { type: "bool" },
    labels: { type: "labels" },
    must: { type: "text", mandatory: true },
  };
  const read = (body: unknown) => readFields(body, fields, "thing");

  it("come as text from Horizon", () => {
    expect(read({ must: "x", port: "2000", open: "True", labels: "{'a': True, 'b': 1}" })).toEqual({
      must: "x",
      port: 2000,
      open: true,
      labels: { a: "True", b: "1" },
    });
  });

  // The texts are those of Magnum 15.0.1.
  it.each<[unknown, string]>([
    [{}, "Invalid input for field/attribute must. Value: 'None'. Mandatory field missing."],
    [{ must: "x", foo: 1 }, "Unknown attribute for argument thing: foo"],
    [
      { must: "x", name: "" },
      "Invalid input for field/attribute name. Value: ''. Value should have a minimum character requirement of 1",
    ],
    [
      { must: "x", port: "12" },
      "Invalid input for field/attribute port. Value: '12'. Value should be greater or equal to 1024",
    ],
    [
      { must: "x", port: "abc" },
      "Invalid input for field/attribute thing. Value: '{'must': 'x', 'port': 'abc'}'. invalid literal for int() with base 10: 'abc'",
    ],
  ])("%j is refused in Magnum's words", (body, text) => {
    const error = refusal(() => read(body));
    expect(error.status).toBe(400);
    expect(error.message).toBe(text);
  });

  it("are not inherited from Object", () => {
    expect(refusal(() => read(JSON.parse('{"must": "x", "__proto__": {}}'))).status).toBe(400);
    expect(refusal(() => read({ must: "x", constructor: 1 })).message).toContain("constructor");
  });
});

describe("the dialect of JSON patch", () => {
  const rules = { internal: ["/api_address"], mandatory: ["/coe"] };
  const document = { name: "n", coe: "kubernetes", labels: { a: "1" }, tags: null };
  const patch = (...operations: unknown[]) => applyPatch(document, readPatch(operations, rules));

  it("replaces labels by a literal of Python, and single ones by their path", () => {
    expect(patch({ op: "replace", path: "/labels", value: "{'b': '2'}" })["labels"]).toEqual({
      b: "2",
    });
    expect(patch({ op: "add", path: "/labels/b", value: "2" })["labels"]).toEqual({
      a: "1",
      b: "2",
    });
    expect(patch({ op: "remove", path: "/labels/a" })["labels"]).toEqual({});
    expect(patch({ op: "add", path: "/tags", value: "x" })["tags"]).toBe("x");
    expect(document.labels).toEqual({ a: "1" });
  });

  // The texts are those of Magnum 15.0.1.
  it.each<[unknown, string]>([
    [
      { op: "test", path: "/name", value: "x" },
      "Invalid input for field/attribute op. Value: 'test'. Value should be one of: remove, replace, add",
    ],
    [
      { op: "add", path: "/name", value: "x" },
      "The attribute /name has existed, please use 'replace' operation instead.",
    ],
    [
      { op: "add", path: "/foo", value: "x" },
      "Adding a new attribute /foo to the root of the resource is not allowed.",
    ],
    [{ op: "remove", path: "/coe" }, "'/coe' is a mandatory attribute and can not be removed"],
    [{ op: "replace", path: "/uuid", value: "x" }, "'/uuid' is an internal attribute and can not be updated"],
    [
      { op: "replace", path: "/api_address", value: "x" },
      "'/api_address' is an internal attribute and can not be updated",
    ],
    [{ op: "replace", path: "/name" }, "'add' and 'replace' operations needs value"],
    [
      { op: "replace", path: "name", value: "x" },
      "Invalid input for field/attribute path. Value: 'name'. Value should match the pattern ^(/[\\w-]+)+$",
    ],
    [
      { op: "remove", path: "/labels/zz" },
      "Couldn't apply patch '[{'path': '/labels/zz', 'op': 'remove'}]'. Reason: can't remove a non-existent object 'zz'",
    ],
    [
      { op: "replace", path: "/labels", value: "{'a" },
      "Couldn't apply patch '[{'path': '/labels', 'op': 'replace', 'value': \"{'a\"}]'. Reason: unterminated string literal (detected at line 1) (<unknown>, line 1)",
    ],
  ])("%j is refused in Magnum's words", (operation, text) => {
    expect(refusal(() => patch(operation)).message).toBe(text);
  });

  it("is a list of operations", () => {
    expect(refusal(() => readPatch({ op: "replace" }, rules)).message).toBe(
      "Invalid input for field/attribute patch. Value: '{'op': 'replace'}'. Value not a valid list: {'op': 'replace'}",
    );
  });
});

describe("the body of an error", () => {
  it.each<[string, string]>([
    ["Cluster x could not be found.", "Cluster x could not be found"],
    [
      'Label kube_tag is refused: it is not a version such as "v1.34.0". Write all of it.',
      'Label kube_tag is refused: it is not a version such as "v1.34.0"',
    ],
    ["served: v1.34.x, v1.35.x.", "served: v1.34.x, v1.35.x"],
    ["no full stop", "no full stop"],
  ])("has the first sentence of %j as its title", (detail, title) => {
    expect(errorBody(new MagnumError(400, detail))).toMatchObject({ errors: [{ title, detail }] });
  });
});

describe("the microversion of a request", () => {
  it.each<[string | undefined, number]>([
    [undefined, 1],
    ["container-infra latest", 14],
    ["container-infrastructure-management 1.9", 9],
    ["container-infrastructure 1.1", 1],
  ])("%s is 1.%i", (header, minor) => expect(readVersion(header)).toBe(minor));

  it.each<[string, string]>([
    ["compute 1.1", "Invalid service type for OpenStack-API-Version header"],
    ["1.1", "Invalid service type for OpenStack-API-Version header"],
    ["container-infra abc", "Invalid value for OpenStack-API-Version header"],
  ])("%s is refused with 406", (header, detail) => {
    const error = refusal(() => readVersion(header));
    expect([error.status, error.message]).toEqual([406, detail]);
  });

  it.each(["1.15", "2.1", "1.0"])("1.15 and others out of range name the range: %s", (version) => {
    const error = refusal(() => readVersion(`container-infra ${version}`));
    expect(error.status).toBe(406);
    expect(errorBody(error)).toMatchObject({
      errors: [{ code: "magnum.microversion-unsupported", min_version: "1.1", max_version: "1.14" }],
    });
  });
});

describe("labels of a Magnum cluster", () => {
  it.each<[Record<string, string>, string]>([
    [{ kubeapi_options: "--anonymous-auth=true" }, "kubeapi_options"],
    [{ kube_tag: "latest" }, "kube_tag"],
    [{ fixed_subnet_cidr: "10.0.0.0/33" }, "fixed_subnet_cidr"],
    [{ kubelet_options: "--max-pods=5 --root-dir=/etc" }, "root-dir"],
    [{ min_node_count: "3", max_node_count: "2" }, "min_node_count"],
    [{ kubescheduler_options: "v=2,authentication-kubeconfig=/x" }, "authentication-kubeconfig"],
  ])("of %j are refused by name", (labels, named) => expect(refusedLabel(labels)).toContain(named));

  it.each(["log-flush-frequency=1m", "--v=2 --vmodule=a=1", "v=2,log-flush-frequency=1m", ""])(
    "kubescheduler_options=%s that change only logs are accepted without effect",
    (kubescheduler_options) => {
      expect(refusedLabel({ kubescheduler_options })).toBeUndefined();
      expect(unusedLabels({ kubescheduler_options })).toEqual(["kubescheduler_options"]);
    },
  );

  it("that are empty, as Horizon sends what was not filled in, are as those that are not given", () => {
    const names = ["kube_tag", "fixed_subnet_cidr", "calico_ipv4pool", "boot_volume_size", "min_node_count"];
    const more = ["max_node_count", "auto_scaling_enabled", "octavia_lb_algorithm", "kubelet_options"];
    const empty = Object.fromEntries([...names, ...more].map((name) => [name, ""]));
    expect(refusedLabel(empty)).toBeUndefined();
    expect(refusedLabel({ ...empty, min_node_count: "2" })).toBeUndefined();
    expect(labelSettings(empty)).toEqual(labelSettings({}));
  });

  it("without effect are named, and the rest are settings", () => {
    const labels = {
      kube_tag: "1.34.1",
      etcd_tag: "3.5",
      zzz: "1",
      calico_ipv4pool: "10.1.0.0/16",
      boot_volume_size: "20",
      kubelet_options: "--max-pods=50",
    };
    expect(refusedLabel(labels)).toBeUndefined();
    expect(unusedLabels(labels)).toEqual(["etcd_tag", "zzz"]);
    expect(labelSettings(labels)).toMatchObject({
      version: "v1.34.1",
      podCidr: "10.1.0.0/16",
      bootVolume: { size: 20 },
      kubelet: [{ name: "max-pods", value: "50" }],
      autoscaling: undefined,
    });
  });

  it("are compared with the template's", () => {
    expect(labelDifferences({ a: "1", b: "2", c: "3" }, { a: "1", b: "x", d: "4" })).toEqual({
      labels_overridden: { b: "2" },
      labels_added: { d: "4" },
      labels_skipped: { c: "3" },
    });
  });
});

describe("pages of a list", () => {
  const items = Array.from({ length: 7 }, (_, at) => ({ id: `id${at}`, name: `n${6 - at}` }));
  const listed = {
    id: (item: (typeof items)[number]) => item.id,
    keys: { name: (item: (typeof items)[number]) => item.name },
    what: "Thing",
  };
  const page = (marker: string | undefined, more: object = {}) => ({
    limit: 3,
    marker,
    sortKey: "id",
    sortDir: "asc" as const,
    ...more,
  });

  it("return each item once while items of the pages before are deleted", () => {
    const first = pageOf(items, page(undefined), listed);
    const left = items.filter(({ id }) => !first.some((one) => one.id === id));
    const second = pageOf(left, page(first.at(-1)?.id), listed);
    expect([...first, ...second].map(({ id }) => id)).toEqual(["id0", "id1", "id2", "id3", "id4", "id5"]);
  });

  it("are sorted by other keys, too", () => {
    expect(pageOf(items, page(undefined, { sortKey: "name", limit: 2 }), listed).map(({ id }) => id)).toEqual([
      "id6",
      "id5",
    ]);
    expect(refusal(() => pageOf(items, page(undefined, { sortKey: "up" }), listed)).message).toBe(
      'The sort_key value "up" is an invalid field for sorting',
    );
    expect(refusal(() => pageOf(items, page("gone", { sortKey: "name" }), listed)).status).toBe(404);
  });

  // The texts are those of Magnum 15.0.1.
  it.each<[string, string]>([
    ["limit=0", "Limit must be positive"],
    ["sort_dir=up", "Invalid sort direction: up. Acceptable values are 'asc' or 'desc'"],
    ["bogus=1", 'Unknown argument: "bogus"'],
    [
      "limit=x",
      "Invalid input for field/attribute limit. Value: 'x'. unable to convert to int. Error: invalid literal for int() with base 10: 'x'",
    ],
    [
      "marker=nope",
      "Invalid input for field/attribute marker. Value: 'nope'. unable to convert to uuid. Error: Expected a uuid but received nope.",
    ],
  ])("for the query %s are refused in Magnum's words", (query, text) => {
    expect(refusal(() => readPage(new URLSearchParams(query))).message).toBe(text);
  });
});

describe("the names of a cluster's objects", () => {
  it("are names of hosts, whatever the cluster is called", () => {
    const uuid = "01a2073e-445f-7000-afad-72fdc1845089";
    expect(objectNameOf("My_Cluster.1", uuid)).toBe("my-cluster-1-fdc1845089");
    expect(objectNameOf("9..--", uuid)).toBe("cluster-fdc1845089");
    expect(namespaceOf("ABC_d")).toBe("magnum-abc-d");
  });
});
