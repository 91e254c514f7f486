import { expect } from "vitest";
import type { CaseGroup, Context, ContractCase } from "../interface.ts";
import { at, configMap, done, items, made, names, refused } from "./shorthands.ts";
import { MORE_WIRE_ROWS } from "./wire-rows-verbs.ts";
import { WIRE_ROWS, type WireRow } from "./wire-rows.ts";

function isRefused(row: WireRow): ContractCase {
  return {
    name: `refused on the wire: ${row.name}`,
    async run({ api, core, namespace }) {
      for (const name of ["a", "b"]) await made(api.post(core("configmaps"), configMap(name, { data: { x: "1" } })));
      const here = (text: string): string =>
        text.replaceAll("NAMESPACE", namespace).replace(/^NS/, `/api/v1/namespaces/${namespace}`);
      const headers = {
        ...(row.body === undefined && row.type === undefined ? {} : { "content-type": row.type ?? "application/json" }),
        ...(row.accept === undefined ? {} : { accept: row.accept }),
      };
      const body = row.body === undefined ? undefined : here(row.body);
      const answer = await api.call(row.method, here(row.path), body, { headers });
      if (row.reason !== undefined) return refused(answer, row.code, row.reason, here(row.message));
      expect(answer.body).toMatchObject({ status: "Failure", code: row.code, message: row.message });
    },
  };
}

const twice = (name: string): string =>
  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"},"data":{"a":"1","a":"2"}}`;

/** [apiVersion, kind, plural, what else it needs, whether a PUT makes it] */
const PUT: readonly (readonly [string, string, string, object, boolean])[] = [
  ["coordination.k8s.io/v1", "Lease", "leases", {}, true],
  ["rbac.authorization.k8s.io/v1", "Role", "roles", {}, true],
  ["v1", "Endpoints", "endpoints", {}, true],
  ["v1", "LimitRange", "limitranges", { spec: { limits: [] } }, true],
  ["v1", "ConfigMap", "configmaps", {}, false],
  ["apps/v1", "ControllerRevision", "controllerrevisions", { revision: 1 }, false],
  ["v1", "ServiceAccount", "serviceaccounts", {}, false],
];

async function header({ api, core }: Context, accept: string): Promise<unknown> {
  return (await api.get(core("configmaps", "a"), { headers: { accept } })).headers["content-type"];
}

export const wire: CaseGroup = {
  title: "raw HTTP requests",
  cases: [
    ...[...WIRE_ROWS, ...MORE_WIRE_ROWS].map(isRefused),
    {
      name: "a duplicate JSON field is a warning, and the last value counts",
      async run({ api, core }) {
        const warned = await api.post(core("configmaps"), twice("a"));
        expect(warned).toMatchObject({ code: 201, body: { data: { a: "2" } } });
        expect(warned.headers["warning"]).toBe('299 - "duplicate field \\"data.a\\""');
        const silent = await api.post(`${core("configmaps")}?fieldValidation=Ignore`, twice("b"));
        expect(silent.code).toBe(201);
        expect(silent.headers["warning"]).toBeUndefined();
      },
    },
    {
      name: "a duplicate YAML key is a warning with its line",
      async run({ api, core }) {
        const text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: '1'\n  k: '2'\n";
        const answer = await api.post(core("configmaps"), text, { headers: { "content-type": "application/yaml" } });
        expect(answer).toMatchObject({ code: 201, body: { data: { k: "2" } } });
        expect(answer.headers["warning"]).toBe('299 - "line 7: key \\"k\\" already set in map"');
      },
    },
    {
      name: "a body that does not say what it is is what its path says",
      async run({ api, core }) {
        const body = await made(api.post(core("configmaps"), { metadata: { name: "a" }, data: { x: "y" } }));
        expect(body).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", data: { x: "y" } });
        expect((await api.post(core("configmaps"), { kind: "ConfigMap", metadata: { name: "b" } })).code).toBe(201);
      },
    },
    ...PUT.map(([apiVersion, kind, plural, more, isMade]): ContractCase => ({
      name: `a PUT of a ${kind} that is not there ${isMade ? "makes it" : "is refused"}`,
      async run({ api, core, apis }) {
        const path = apiVersion === "v1" ? core(plural, "x") : apis(apiVersion, plural, "x");
        const answer = await api.put(path, { apiVersion, kind, metadata: { name: "x" }, ...more });
        if (isMade) expect(answer).toMatchObject({ code: 201, body: { kind, metadata: { name: "x" } } });
        else refused(answer, 404, "NotFound");
        expect((await api.get(path)).code).toBe(isMade ? 200 : 404);
      },
    })),
    {
      name: "the form with the highest weight is returned",
      async run(c) {
        await made(c.api.post(c.core("configmaps"), configMap("a")));
        expect(await header(c, "application/yaml;q=0.5, application/json;q=0.9")).toBe("application/json");
        expect(await header(c, "application/json;q=0.5, application/yaml")).toBe("application/yaml");
        expect(await header(c, "text/html, */*;q=0.8")).toBe("application/json");
        expect(await header(c, "application/json;as=Bogus;v=v1;g=meta.k8s.io, application/json")).toBe(
          "application/json",
        );
      },
    },
    {
      name: "pretty answers are for people",
      async run({ api, core }) {
        await made(api.post(core("configmaps"), configMap("a")));
        const { text, body } = await api.get(`${core("configmaps", "a")}?pretty=true`);
        expect(text.split("\n").length).toBeGreaterThan(5);
        expect(body).toMatchObject({ metadata: { name: "a" } });
      },
    },
    {
      name: "bodies over three mebibytes are refused",
      async run({ api, core }) {
        const answer = await api.post(core("configmaps"), configMap("a", { data: { k: "x".repeat(3_200_000) } }));
        expect(answer).toMatchObject({ code: 413, body: { reason: "RequestEntityTooLarge" } });
      },
    },
    {
      name: "ConfigMaps over one mebibyte are refused",
      async run({ api, core }) {
        const answer = await api.post(core("configmaps"), configMap("a", { data: { k: "x".repeat(1_100_000) } }));
        refused(answer, 422, "Invalid", 'ConfigMap "a" is invalid: []: Too long: may not be more than 1048576 bytes');
      },
    },
    {
      name: "text of every script is kept",
      async run({ api, core }) {
        const data = { k: 'é\u2028😀<>&\u0000\t"\\' };
        await made(api.post(core("configmaps"), configMap("a", { data })));
        expect((await api.get(core("configmaps", "a"))).body["data"]).toEqual(data);
      },
    },
    {
      name: "Endpoints are deprecated, and say so",
      async run({ api, core }) {
        const wanted = '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"';
        expect((await api.get(core("endpoints"))).headers["warning"]).toBe(wanted);
      },
    },
    {
      name: "an object is deleted by its uid and revision, or not at all",
      async run({ api, core }) {
        const body = await made(api.post(core("configmaps"), configMap("a")));
        const uid = String(at(body, "metadata", "uid"));
        const why = `the UID in the precondition (x) does not match the UID in record (${uid}). The object might have been deleted and then recreated`;
        refused(
          await api.delete(core("configmaps", "a"), { preconditions: { uid: "x" } }),
          409,
          "Conflict",
          `Operation cannot be fulfilled on ConfigMap "a": ${why}`,
        );
        refused(
          await api.delete(core("configmaps", "a"), { preconditions: { resourceVersion: "1" } }),
          409,
          "Conflict",
        );
        await done(api.delete(core("configmaps", "a"), { preconditions: { uid } }));
      },
    },
    {
      name: "a collection is deleted by its selector, within its namespace alone",
      async run({ api, core }) {
        await made(api.post(core("secrets"), { metadata: { name: "a", labels: { x: "1" } } }));
        await made(api.post(core("secrets"), { metadata: { name: "b" } }));
        const answer = await done(api.delete(`${core("secrets")}?labelSelector=x%3D1`));
        expect(items({ body: answer } as never)).toHaveLength(1);
        expect(names(await api.get(core("secrets")))).toEqual(["b"]);
        refused(await api.delete("/api/v1/secrets?labelSelector=x%3D1"), 405, "MethodNotAllowed");
      },
    },
    {
      name: "pages keep their revision while what they show changes",
      async run({ api, core }) {
        for (const name of ["a", "b", "c"]) await made(api.post(core("secrets"), { metadata: { name } }));
        const first = await api.get(`${core("secrets")}?limit=1`);
        await api.delete(core("secrets", "b"));
        await api.patch(core("secrets", "c"), "merge", { metadata: { labels: { changed: "yes" } } });
        const token = encodeURIComponent(String(at(first.body, "metadata", "continue")));
        const rest = await api.get(`${core("secrets")}?continue=${token}`);
        expect(names(rest)).toEqual(["b", "c"]);
        expect(at(items(rest), 1, "metadata", "labels")).toBeUndefined();
      },
    },
  ],
};
