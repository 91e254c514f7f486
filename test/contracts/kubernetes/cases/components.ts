import { expect } from "vitest";
import type { Answer, CaseGroup, Json } from "../interface.ts";
import { at, made, refused } from "./shorthands.ts";

const STATUSES = "/api/v1/componentstatuses";
const WARNING = '299 - "v1 ComponentStatus is deprecated in v1.19+"';
const NODES = "/api/v1/nodes";
const MERGE = { headers: { "content-type": "application/merge-patch+json" } };

const items = ({ body }: Answer): Json[] =>
  (body["items"] as Json[]).toSorted((a, b) =>
    String(at(a, "metadata", "name")).localeCompare(String(at(b, "metadata", "name"))),
  );
const absent = (name: string): Json => ({
  metadata: { name },
  conditions: [{ type: "Healthy", status: "False", message: expect.stringMatching(/.+/) }],
});
const store: Json = {
  metadata: { name: "etcd-0" },
  conditions: [{ type: "Healthy", status: "True", message: "ok" }],
};

export const components: CaseGroup = {
  title: "component statuses",
  cases: [
    {
      name: "component statuses name the store, and a scheduler and controller manager that do not run",
      async run({ api }) {
        const answer = await api.get(STATUSES);
        expect([answer.code, answer.headers["warning"]]).toEqual([200, WARNING]);
        expect(answer.body).toMatchObject({ kind: "ComponentStatusList", apiVersion: "v1", metadata: {} });
        expect(answer.body["metadata"]).toEqual({});
        expect(items(answer)).toEqual([absent("controller-manager"), store, absent("scheduler")]);
        const one = await api.get(`${STATUSES}/etcd-0`);
        expect(one.body).toEqual({ kind: "ComponentStatus", apiVersion: "v1", ...store });
        refused(await api.get(`${STATUSES}/etcd-1`), 404, "NotFound", 'componentstatus "etcd-1" not found');
      },
    },
    {
      name: "component statuses are chosen by name, and by nothing else that a list takes",
      async run({ api }) {
        expect(items(await api.get(`${STATUSES}?fieldSelector=metadata.name%3Detcd-0`))).toEqual([store]);
        expect(items(await api.get(`${STATUSES}?labelSelector=a%3Db`))).toEqual([]);
        for (const query of ["limit=1", "limit=-1", "resourceVersion=abc", "continue=xx"]) {
          expect(items(await api.get(`${STATUSES}?${query}`)).length).toBe(3);
        }
        refused(
          await api.get(`${STATUSES}?fieldSelector=spec.x%3D1`),
          400,
          "BadRequest",
          /"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"/,
        );
      },
    },
    {
      name: "component statuses cannot be written or watched",
      async run({ api }) {
        const body = { apiVersion: "v1", kind: "ComponentStatus", metadata: { name: "x" } };
        const all = [
          await api.post(STATUSES, body),
          await api.put(`${STATUSES}/etcd-0`, body),
          await api.patch(`${STATUSES}/etcd-0`, "merge", {}),
          await api.delete(`${STATUSES}/etcd-0`),
          await api.delete(STATUSES),
        ];
        for (const answer of all) refused(answer, 405, "MethodNotAllowed", /does not allow this method/);
        const watched = await api.get(`${STATUSES}?watch=true`);
        refused(watched, 405, "MethodNotAllowed", 'watch is not supported on resources of kind "componentstatuses"');
        expect(at(watched.body, "details")).toEqual({ kind: "componentstatuses" });
        refused(await api.get("/api/v1/watch/componentstatuses"), 404, "NotFound", /could not find the requested/);
      },
    },
    {
      name: "component statuses are tables for kubectl",
      async run({ api }) {
        const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
        const { body } = await api.get(`${STATUSES}/etcd-0`, { headers: { accept } });
        const columns = (body["columnDefinitions"] as Json[]).map(({ name, type, format, priority }) => [
          name,
          type,
          format,
          priority,
        ]);
        expect(columns).toEqual([
          ["Name", "string", "name", 0],
          ["Status", "string", "", 0],
          ["Message", "string", "", 0],
          ["Error", "string", "", 0],
        ]);
        expect(at(body, "rows", 0, "cells")).toEqual(["etcd-0", "Healthy", "ok", ""]);
      },
    },
    {
      name: "component statuses are discovered as a resource that is read alone",
      async run({ api }) {
        const { body } = await api.get("/api/v1");
        expect((body["resources"] as Json[]).find((r) => r["name"] === "componentstatuses")).toEqual({
          name: "componentstatuses",
          singularName: "componentstatus",
          namespaced: false,
          kind: "ComponentStatus",
          verbs: ["get", "list"],
          shortNames: ["cs"],
        });
      },
    },
  ],
};

/** Requests that would be forwarded, had they a target. */
export const proxying: CaseGroup = {
  title: "requests that are forwarded to kubelets, pods and Services",
  cases: [
    {
      name: "a proxied request to what is not there is not found, whatever its method and body",
      async run({ api, core }) {
        for (const [plural, path] of [
          ["nodes", NODES],
          ["pods", core("pods")],
          ["services", core("services")],
        ]) {
          for (const id of ["none", "none:80", "https:none:80", "none:"]) {
            const answer = await api.get(`${path}/${id}/proxy/healthz?a=b`);
            refused(answer, 404, "NotFound", `${plural} "none" not found`);
            expect(at(answer.body, "details")).toEqual({ name: "none", kind: plural });
          }
          for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
            refused(await api.call(method, `${path}/none/proxy`, "{"), 404, "NotFound", `${plural} "none" not found`);
          }
          expect((await api.call("HEAD", `${path}/none/proxy`)).code).toBe(404);
        }
      },
    },
    {
      name: "a proxied request to a target that cannot be read is refused",
      async run({ api, core }) {
        for (const id of ["a:b:c:d", "ftp:a:1"]) {
          refused(await api.get(`${NODES}/${id}/proxy`), 400, "BadRequest", `invalid node request "${id}"`);
          refused(await api.get(`${core("pods", id)}/proxy`), 400, "BadRequest", `invalid pod request "${id}"`);
          refused(await api.get(`${core("services", id)}/proxy`), 400, "BadRequest", `invalid service request "${id}"`);
        }
      },
    },
    {
      name: "a proxied request to a node needs an address that is not of the server itself",
      async run({ api, unique }) {
        const name = unique("proxied");
        await made(api.post(NODES, { apiVersion: "v1", kind: "Node", metadata: { name } }));
        const none = await api.get(`${NODES}/${name}/proxy`);
        expect([none.code, none.body["reason"], none.body["message"]]).toEqual([
          500,
          undefined,
          "no preferred addresses found; known addresses: []",
        ]);
        for (const address of ["127.0.0.1", "169.254.1.1", "0.0.0.0", "224.0.0.1"]) {
          const status = { addresses: [{ type: "InternalIP", address }] };
          await api.call("PATCH", `${NODES}/${name}/status`, { status }, MERGE);
          refused(await api.get(`${NODES}/${name}/proxy`), 400, "BadRequest", "address not allowed");
        }
        await api.delete(`${NODES}/${name}`);
      },
    },
    {
      name: "a proxied request to a pod needs an address that is not of the server itself",
      async run({ api, core }) {
        await api.post(core("serviceaccounts"), {
          apiVersion: "v1",
          kind: "ServiceAccount",
          metadata: { name: "default" },
        });
        const spec = { automountServiceAccountToken: false, containers: [{ name: "c", image: "i" }] };
        await made(api.post(core("pods"), { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec }));
        refused(await api.get(`${core("pods", "p")}/proxy`), 400, "BadRequest", "address not allowed");
        for (const ip of ["127.0.0.1", "::1", "fe80::1"]) {
          await api.call("PATCH", `${core("pods", "p")}/status`, { status: { podIP: ip, podIPs: [{ ip }] } }, MERGE);
          refused(await api.get(`${core("pods", "p:8080")}/proxy`), 400, "BadRequest", "address not allowed");
        }
      },
    },
    {
      name: "a proxied request to a Service needs its port and endpoints that are pods",
      async run({ api, core }) {
        const service = (name: string, spec: Json) =>
          made(api.post(core("services"), { apiVersion: "v1", kind: "Service", metadata: { name }, spec }));
        await service("s", { ports: [{ port: 80 }] });
        await service("two", {
          ports: [
            { name: "a", port: 80 },
            { name: "b", port: 81 },
          ],
        });
        await service("back", { ports: [{ port: 80 }] });
        await service("ext", { type: "ExternalName", externalName: "example.invalid" });
        const endpoints = (name: string, subsets: Json[]) =>
          made(api.post(core("endpoints"), { apiVersion: "v1", kind: "Endpoints", metadata: { name }, subsets }));
        await endpoints("back", [{ addresses: [{ ip: "10.1.2.3" }], ports: [{ port: 9 }] }]);
        await endpoints("empty", []);
        const says = async (id: string): Promise<unknown[]> => {
          const { code, body } = await api.get(`${core("services", id)}/proxy`);
          return [code, body["reason"], body["message"]];
        };
        const missing = (name: string) => [404, "NotFound", `services "${name}" not found`];
        const unavailable = (why: string) => [503, "ServiceUnavailable", why];
        expect(await says("s")).toEqual(missing("s"));
        expect(await says("s:80")).toEqual(missing("s"));
        expect(await says("two:a")).toEqual(missing("two"));
        expect(await says("ext")).toEqual(missing("ext"));
        expect(await says("two:99")).toEqual(unavailable('no service port 99 found for service "two"'));
        expect(await says("ext:80")).toEqual(unavailable('no service port 80 found for service "ext"'));
        expect(await says("empty")).toEqual(unavailable('no endpoints available for service "empty"'));
        expect(await says("back")).toEqual(unavailable('no endpoints available for service "back"'));
        expect(await says("http:back:80")).toEqual(unavailable('no endpoints available for service "http:back:80"'));
      },
    },
    {
      name: "a proxied request needs the right to the proxy",
      async run({ as }) {
        const stranger = await as({ user: "stranger" });
        refused(await stranger.get(`${NODES}/none/proxy/x`), 403, "Forbidden", /cannot get resource "nodes\/proxy"/);
      },
    },
  ],
};
