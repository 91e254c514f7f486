/**
 * Every object that the operator writes has only fields that three minors of Kubernetes know, with values of their
 * kinds: the schema is the one that client-go of that minor applies objects with. It has no required fields and no
 * choices; those are the API server's, which took the same objects. Needs Go, which brings the modules.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OPENSTACK_SERVICES } from "@causeway/api";
import type { KubeObject, KubernetesClient } from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { OperatorWorld } from "./world.ts";

const MINORS = { "1.32": "v0.32.3", "1.33": "v0.33.3", "1.34": "v0.34.4" } as const;
const go = spawnSync("go", ["version"]).status === 0;

interface Type {
  readonly scalar?: string;
  readonly namedType?: string;
  readonly list?: { readonly elementType: Type };
  readonly map?: { readonly fields?: readonly { name: string; type: Type }[]; readonly elementType?: Type };
}
type Types = ReadonlyMap<string, Type>;

function typesOf(version: string): Types {
  const options = { cwd: tmpdir(), encoding: "utf8" as const, env: { ...process.env, GOFLAGS: "-mod=mod" } };
  const { Dir } = JSON.parse(
    execFileSync("go", ["mod", "download", "-json", `k8s.io/client-go@${version}`], options),
  ) as { Dir: string };
  const source = readFileSync(join(Dir, "applyconfigurations/internal/internal.go"), "utf8");
  const [, text = ""] = /YAMLObject\(`([^`]*)`\)/.exec(source) ?? [];
  const { types } = parse(text) as { types: readonly (Type & { name: string })[] };
  return new Map(types.map((type) => [type.name, type]));
}

/** Kinds of values that the schema does not have at a path. */
function problemsOf(types: Types, type: Type, value: unknown, path: string): string[] {
  if (type.namedType !== undefined) {
    const named = types.get(type.namedType);
    return named ? problemsOf(types, named, value, path) : [`${path}: no type ${type.namedType}`];
  }
  if (type.scalar !== undefined && typeof value !== "object") {
    const kind = type.scalar === "numeric" ? "number" : type.scalar;
    return kind === "untyped" || typeof value === kind ? [] : [`${path}: ${JSON.stringify(value)} is not a ${kind}`];
  }
  if (Array.isArray(value)) {
    const { list } = type;
    return list
      ? value.flatMap((each, at) => problemsOf(types, list.elementType, each, `${path}[${at}]`))
      : [`${path}: is not a list`];
  }
  if (typeof value !== "object" || value === null || !type.map) return [`${path}: ${JSON.stringify(value)}`];
  const { fields = [], elementType } = type.map;
  return Object.entries(value).flatMap(([key, each]) => {
    if (each === undefined) return [];
    const own = fields.find(({ name }) => name === key)?.type ?? elementType;
    return own ? problemsOf(types, own, each, `${path}.${key}`) : [`${path}.${key}: no such field`];
  });
}

function typeOf({ apiVersion, kind }: KubeObject): Type {
  const [group = "core", version = "v1"] = apiVersion.includes("/") ? apiVersion.split("/") : ["core", apiVersion];
  return { namedType: `io.k8s.api.${group.split(".")[0]}.${version}.${kind}` };
}

/** The client that notes what is written. */
function noting(client: KubernetesClient, written: Map<string, KubeObject>): KubernetesClient {
  const note = (object: object) => {
    const { kind, metadata } = object as KubeObject;
    written.set(`${kind}/${metadata.name}`, object as KubeObject);
  };
  return {
    server: client.server,
    get: (type, key, options) => client.get(type, key, options),
    find: (type, key, options) => client.find(type, key, options),
    list: (type, options) => client.list(type, options),
    watch: (type, options) => client.watch(type, options),
    create(type, object, options) {
      note(object);
      return client.create(type, object, options);
    },
    update: (type, object, options) => client.update(type, object, options),
    patch: (type, key, patch, options) => client.patch(type, key, patch, options),
    apply(type, object, options) {
      if (options.subresource === undefined) note(object);
      return client.apply(type, object, options);
    },
    delete: (type, key, options) => client.delete(type, key, options),
    request: (method, path, options) => client.request(method, path, options),
    close: () => client.close(),
  };
}

describe.skipIf(!go)("every object that the operator writes", () => {
  const written = new Map<string, KubeObject>();
  let world: OperatorWorld | undefined;
  beforeAll(async () => {
    const w = (world = await OperatorWorld.start(1));
    w.runOperator((client) => noting(client, written));
    await w.createDeployment({
      size: "Small",
      services: OPENSTACK_SERVICES.map((name) => ({
        name,
        enabled: true,
        ...(name === "neutron" ? { database: "Own" } : {}),
      })),
      monitoring: { namespace: "monitoring", exporters: true },
      canary: { image: "cirros", flavor: "tiny", external: { network: "public", cidr: "203.0.113.0/24" } },
      backup: { target: { claim: "backups" }, keys: { name: "passphrase" } },
      tls: { from: "Own" },
      network: { bgp: { asn: 64_512, peers: ["eth1"] }, evpn: { interface: "lo" }, mtu: 9000 },
      storage: { imageClaim: "images", serverStateClaim: "servers", ceph: { secret: { name: "ceph" } } },
    });
    await w.until("a backup", async () => (await w.deployment()).status?.backups?.[0]?.state === "Complete");
  });
  afterAll(() => world?.close());

  test.each(Object.entries(MINORS))("has only fields of Kubernetes %s", (_, version) => {
    const types = typesOf(version);
    const kinds = new Set([...written.values()].map(({ kind }) => kind));
    for (const kind of ["Deployment", "StatefulSet", "DaemonSet", "Job", "NetworkPolicy", "PodDisruptionBudget", "Pod"])
      expect([...kinds]).toContain(kind);
    const found = [...written].flatMap(([id, object]) => problemsOf(types, typeOf(object), object, id));
    expect(found).toEqual([]);
    // The check can fail: a field and a value that no minor has.
    const job = [...written.values()].find(({ kind }) => kind === "Job");
    const wrong = { ...job, spec: { ...(job as unknown as { spec: object }).spec, paralelism: 1, backoffLimit: "3" } };
    expect(job && problemsOf(types, typeOf(job), wrong, "Job")).toEqual([
      'Job.spec.backoffLimit: "3" is not a number',
      "Job.spec.paralelism: no such field",
    ]);
  });
});
