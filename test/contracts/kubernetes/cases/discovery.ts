import { expect } from "vitest";
import type { CaseGroup, Json, Raw } from "../interface.ts";
import { WIDGETS, GROUP } from "./custom-resource.ts";
import { at, eventually, refused } from "./shorthands.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

function resource(body: Json, name: string): Json | undefined {
  return (body["resources"] as Json[]).find((r) => r["name"] === name);
}

/**
 * The index of OpenAPI v3, once the custom kind is in it. kube-apiserver takes its time, and calls this document
 * text/plain.
 */
function documents(api: Raw): Promise<Record<string, { serverRelativeURL: string } | undefined>> {
  return eventually(async () => {
    const index = JSON.parse((await api.get("/openapi/v3")).text) as {
      paths: Record<string, { serverRelativeURL: string }>;
    };
    return index.paths[`apis/${WIDGETS}`] ? index.paths : undefined;
  }, "the document of the custom kind");
}

export const discovery: CaseGroup = {
  title: "discovery",
  cases: [
    {
      name: "/version says 1.34 and the platform",
      async run({ api }) {
        const { code, body } = await api.get("/version");
        expect(code).toBe(200);
        expect(body).toMatchObject({ major: "1", minor: expect.stringMatching(/^34/) as string });
        expect(body["gitVersion"]).toMatch(/^v1\.34\./);
        for (const field of ["gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler", "platform"]) {
          expect(body[field], field).toEqual(expect.any(String));
        }
      },
    },
    ...["/healthz", "/livez", "/readyz"].map((path) => ({
      name: `${path} answers ok as text, to anonymous callers too`,
      async run({ as }: Parameters<CaseGroup["cases"][number]["run"]>[0]) {
        const { code, text, headers } = await (await as({ anonymous: true })).get(path);
        expect({ code, text }).toEqual({ code: 200, text: "ok" });
        expect(headers["content-type"]).toBe("text/plain; charset=utf-8");
      },
    })),
    {
      name: "GET /api lists version v1",
      async run({ api }) {
        const { body } = await api.get("/api");
        expect(body).toMatchObject({ kind: "APIVersions", versions: ["v1"] });
        expect(body["serverAddressByClientCIDRs"]).toMatchObject([{ clientCIDR: "0.0.0.0/0" }]);
      },
    },
    {
      name: "/apis lists groups with their preferred versions, custom ones too",
      async run({ api }) {
        const { body } = await api.get("/apis");
        expect(body).toMatchObject({ kind: "APIGroupList", apiVersion: "v1" });
        const groups = new Map((body["groups"] as Json[]).map((g) => [g["name"], g]));
        for (const [name, version] of [
          ["apps", "v1"],
          ["batch", "v1"],
          ["coordination.k8s.io", "v1"],
          ["rbac.authorization.k8s.io", "v1"],
          ["certificates.k8s.io", "v1"],
          ["apiextensions.k8s.io", "v1"],
          ["discovery.k8s.io", "v1"],
          ["authentication.k8s.io", "v1"],
          ["authorization.k8s.io", "v1"],
          ["storage.k8s.io", "v1"],
          ["policy", "v1"],
          ["events.k8s.io", "v1"],
        ]) {
          expect(at(groups.get(name), "preferredVersion"), name).toEqual({
            groupVersion: `${name}/${version}`,
            version,
          });
        }
        expect(groups.get(GROUP)).toEqual({
          name: GROUP,
          versions: [
            { groupVersion: `${GROUP}/v1`, version: "v1" },
            { groupVersion: `${GROUP}/v1beta1`, version: "v1beta1" },
          ],
          preferredVersion: { groupVersion: `${GROUP}/v1`, version: "v1" },
        });
      },
    },
    {
      name: "/apis/GROUP is an APIGroup",
      async run({ api }) {
        const { body } = await api.get(`/apis/${GROUP}`);
        expect(body).toMatchObject({ kind: "APIGroup", apiVersion: "v1", name: GROUP });
      },
    },
    {
      name: "/api/v1 describes resources and subresources",
      async run({ api }) {
        const { body } = await api.get("/api/v1");
        expect(body).toMatchObject({ kind: "APIResourceList", groupVersion: "v1" });
        expect(resource(body, "configmaps")).toMatchObject({
          singularName: "configmap",
          namespaced: true,
          kind: "ConfigMap",
          verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
          shortNames: ["cm"],
        });
        expect(resource(body, "namespaces")).toMatchObject({ namespaced: false, shortNames: ["ns"] });
        expect(resource(body, "namespaces")?.["verbs"]).not.toContain("deletecollection");
        expect(resource(body, "nodes/status")).toEqual({
          name: "nodes/status",
          singularName: "",
          namespaced: false,
          kind: "Node",
          verbs: ["get", "patch", "update"],
        });
        expect(resource(body, "serviceaccounts/token")).toMatchObject({
          group: "authentication.k8s.io",
          version: "v1",
          kind: "TokenRequest",
          verbs: ["create"],
        });
        expect(resource(body, "pods/binding")).toMatchObject({ kind: "Binding", verbs: ["create"] });
        expect(resource(body, "pods/eviction")).toMatchObject({ group: "policy", version: "v1", kind: "Eviction" });
        expect(resource(body, "services")).toMatchObject({ shortNames: ["svc"], categories: ["all"] });
      },
    },
    {
      name: "/apis/apps/v1 has deployments with scale",
      async run({ api }) {
        const { body } = await api.get("/apis/apps/v1");
        expect(resource(body, "deployments")).toMatchObject({ shortNames: ["deploy"], categories: ["all"] });
        expect(resource(body, "deployments/scale")).toMatchObject({
          group: "autoscaling",
          version: "v1",
          kind: "Scale",
          verbs: ["get", "patch", "update"],
        });
      },
    },
    {
      name: "certificatesigningrequests have approval and status",
      async run({ api }) {
        const { body } = await api.get("/apis/certificates.k8s.io/v1");
        expect(resource(body, "certificatesigningrequests")).toMatchObject({ shortNames: ["csr"], namespaced: false });
        expect(resource(body, "certificatesigningrequests/approval")).toMatchObject({
          verbs: ["get", "patch", "update"],
        });
      },
    },
    {
      name: "a custom group lists its resource, status and scale",
      async run({ api }) {
        const { body } = await api.get(`/apis/${WIDGETS}`);
        expect(body["groupVersion"]).toBe(WIDGETS);
        expect(resource(body, "widgets")).toMatchObject({
          singularName: "widget",
          namespaced: true,
          kind: "Widget",
          verbs: ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"],
          shortNames: ["ctr"],
          categories: ["all"],
        });
        expect(resource(body, "widgets/status")).toMatchObject({ verbs: ["get", "patch", "update"] });
        expect(resource(body, "widgets/scale")).toMatchObject({ group: "autoscaling", kind: "Scale" });
      },
    },
    ...["/api", "/apis"].map((path) => ({
      name: `${path} comes aggregated to who asks so`,
      async run({ api }: Parameters<CaseGroup["cases"][number]["run"]>[0]) {
        const { body, headers } = await api.get(path, { headers: { accept: AGGREGATED } });
        expect(headers["content-type"]).toBe("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
        expect(body).toMatchObject({ kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2" });
        const wanted = path === "/api" ? ["v1", "configmaps", "ConfigMap"] : ["v1", "widgets", "Widget"];
        const group = (body["items"] as Json[]).find((g) =>
          path === "/api" ? true : at(g, "metadata", "name") === GROUP,
        );
        const version = (group?.["versions"] as Json[] | undefined)?.find((v) => v["version"] === wanted[0]);
        const found = (version?.["resources"] as Json[] | undefined)?.find((r) => r["resource"] === wanted[1]);
        expect(found).toMatchObject({ responseKind: { kind: wanted[2] }, scope: "Namespaced" });
      },
    })),
    {
      name: "an unknown group and an unknown path are 404 page not found",
      async run({ api }) {
        for (const path of ["/apis/nothing.example.com", "/apis/nothing.example.com/v1", "/nothing"]) {
          const { code, text } = await api.get(path);
          expect({ path, code, text: text.trim() }).toEqual({ path, code: 404, text: "404 page not found" });
        }
      },
    },
    {
      name: "an unknown resource of a known group is a Status",
      async run({ api }) {
        for (const path of ["/api/v1/nothings", "/apis/apps/v1/nothings", "/api/v1/namespaces/default/nothings/a"]) {
          refused(await api.get(path), 404, "NotFound", "the server could not find the requested resource");
        }
      },
    },
    {
      name: "an unknown resource of a custom group is 404",
      async run({ api }) {
        expect((await api.get(`/apis/${GROUP}/v1/nothings`)).code).toBe(404);
        expect((await api.get(`/apis/${GROUP}/v9/widgets`)).code).toBe(404);
      },
    },
    {
      name: "OpenAPI v3 has a document per group and version, with a hash to cache it by",
      async run({ api }) {
        const paths = await documents(api);
        for (const path of ["api/v1", "apis/apps/v1", `apis/${WIDGETS}`]) {
          expect(paths[path]?.serverRelativeURL, path).toMatch(new RegExp(`^/openapi/v3/${path}\\?hash=[0-9A-F]+$`));
        }
        const document = await api.get(paths["api/v1"]?.serverRelativeURL ?? "");
        expect(document.body).toMatchObject({ openapi: "3.0.0" });
        const schemas = at(document.body, "components", "schemas") as Record<string, Json>;
        const pod = schemas["io.k8s.api.core.v1.Pod"];
        expect(pod?.["x-kubernetes-group-version-kind"]).toEqual([{ group: "", kind: "Pod", version: "v1" }]);
      },
    },
    {
      name: "OpenAPI v3 describes the fields of a custom kind",
      async run({ api }) {
        const path = (await documents(api))[`apis/${WIDGETS}`]?.serverRelativeURL ?? "";
        const { body } = await api.get(path);
        const schemas = Object.values(at(body, "components", "schemas") as Record<string, Json>);
        const isIt = (s: Json): boolean => at(s, "x-kubernetes-group-version-kind", 0, "kind") === "Widget";
        const found = schemas.find(isIt);
        expect(at(found, "properties", "spec", "properties", "size")).toEqual({
          type: "string",
          enum: ["small", "big"],
          description: "How large it is.",
        });
      },
    },
    {
      name: "OpenAPI v2 is there for clients that know no other",
      except: {
        server: "causeway",
        reason: "its OpenAPI v2 has the custom kinds only, so that clients merge built-in kinds by their own types",
      },
      async run({ api }) {
        const { body } = await api.get("/openapi/v2", { headers: { accept: "application/json" } });
        expect(body).toMatchObject({ swagger: "2.0" });
        expect(Object.keys(body["definitions"] as Json)).toContain("io.k8s.api.core.v1.Pod");
      },
    },
  ],
};
