import { expect } from "vitest";
import type { ContractCase } from "../interface.ts";
import { widget, widgets } from "./custom-resource.ts";
import { at, configMap, done, made, refused } from "./shorthands.ts";
import { allow, denying, withWebhooks, type Side } from "./webhook-words.ts";

/** What comes to the webhook, by operation. */
export function reviews(side: Side): ContractCase[] {
  return [
    {
      name: `a ${side} webhook reviews a create`,
      run: (context) =>
        withWebhooks(context, { side, answer: () => allow }, async ({ asked, server }) => {
          const { api, core, namespace } = context;
          await made(api.post(`${core("configmaps")}?fieldManager=m`, configMap("a", { data: { a: "1" } })));
          const [request] = asked();
          expect(request).toMatchObject({
            uid: expect.stringMatching(/^[-0-9a-f]{36}$/),
            kind: { group: "", version: "v1", kind: "ConfigMap" },
            resource: { group: "", version: "v1", resource: "configmaps" },
            requestKind: { group: "", version: "v1", kind: "ConfigMap" },
            requestResource: { group: "", version: "v1", resource: "configmaps" },
            name: "a",
            namespace,
            operation: "CREATE",
            userInfo: { username: "contract-admin", groups: ["system:masters", "system:authenticated"] },
            object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace }, data: { a: "1" } },
            oldObject: null,
            dryRun: false,
            options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1", fieldManager: "m" },
          });
          expect(at(request, "object", "metadata", "managedFields", 0, "manager")).toBe("m");
          expect(at(request, "object", "metadata", "uid") === undefined).toBe(side === "mutating");
          expect(server.seen[0]?.path).toMatch(/\?timeout=10s$/);
          expect(server.seen[0]?.headers["authorization"]).toBeUndefined();
          expect(server.seen[0]?.headers["content-type"]).toBe("application/json");
        }),
    },
    {
      name: `a ${side} webhook reviews updates and patches with the old and the new object`,
      run: (context) =>
        withWebhooks(context, { side, answer: () => allow }, async ({ asked }) => {
          const { api, core } = context;
          const first = await made(api.post(core("configmaps"), configMap("a", { data: { a: "1" } })));
          await done(api.put(core("configmaps", "a"), { ...first, data: { a: "2" } }));
          await done(api.patch(core("configmaps", "a"), "merge", { data: { a: "3" } }));
          await done(
            api.patch(
              `${core("configmaps", "a")}?fieldManager=x&force=true`,
              "apply",
              configMap("a", { data: { a: "4" } }),
            ),
          );
          const reviewed = asked().map((r) => [
            r["operation"],
            at(r, "oldObject", "data", "a"),
            at(r, "object", "data", "a"),
            at(r, "options", "kind"),
          ]);
          expect(reviewed).toEqual([
            ["CREATE", undefined, "1", "CreateOptions"],
            ["UPDATE", "1", "2", "UpdateOptions"],
            ["UPDATE", "2", "3", "UpdateOptions"],
            ["UPDATE", "3", "4", "UpdateOptions"],
          ]);
          const [, put] = asked();
          expect(at(put, "oldObject", "metadata", "resourceVersion")).toBe(at(first, "metadata", "resourceVersion"));
          expect(at(put, "object", "metadata", "uid")).toBe(at(first, "metadata", "uid"));
        }),
    },
    {
      name: `a ${side} webhook reviews a create by apply`,
      run: (context) =>
        withWebhooks(context, { side, answer: () => allow }, async ({ asked }) => {
          const { api, core } = context;
          await made(api.patch(`${core("configmaps", "a")}?fieldManager=x`, "apply", configMap("a")));
          const [request] = asked();
          expect([
            request?.["operation"],
            at(request, "options", "kind"),
            at(request, "options", "fieldManager"),
          ]).toEqual(["CREATE", "CreateOptions", "x"]);
        }),
    },
    {
      name: `a ${side} webhook reviews each object of a deletion, alone and of a collection`,
      run: (context) =>
        withWebhooks(
          context,
          {
            side,
            answer: () => allow,
            hooks: [
              {
                rules: [{ apiGroups: [""], apiVersions: ["*"], resources: ["configmaps"], operations: ["DELETE"] }],
                objectSelector: { matchLabels: { mine: "yes" } },
              },
            ],
          },
          async ({ asked }) => {
            const { api, core, namespace } = context;
            const labels = { mine: "yes" };
            for (const name of ["a", "b", "c"])
              await made(api.post(core("configmaps"), configMap(name, { metadata: { labels } })));
            await done(
              api.delete(core("configmaps", "a"), {
                kind: "DeleteOptions",
                apiVersion: "v1",
                propagationPolicy: "Background",
              }),
            );
            await done(api.delete(`${core("configmaps")}?labelSelector=mine%3Dyes`));
            const [one, ...others] = asked();
            expect(one).toMatchObject({
              operation: "DELETE",
              name: "a",
              namespace,
              object: null,
              options: { kind: "DeleteOptions", propagationPolicy: "Background" },
            });
            expect(at(one, "oldObject", "metadata", "name")).toBe("a");
            expect(others.map((r) => [r["name"] ?? "", at(r, "oldObject", "metadata", "name")])).toEqual([
              ["", "b"],
              ["", "c"],
            ]);
          },
        ),
    },
    {
      name: `a ${side} webhook that denies keeps an object from deletion`,
      run: (context) =>
        withWebhooks(
          context,
          { side, answer: (r) => (r["operation"] === "DELETE" ? denying({ message: "remain" }) : allow) },
          async () => {
            const { api, core } = context;
            await made(api.post(core("configmaps"), configMap("a")));
            refused(
              await api.delete(core("configmaps", "a")),
              400,
              undefined as unknown as string,
              'admission webhook "hook-0.example.com" denied the request: remain',
            );
            expect((await api.get(core("configmaps", "a"))).code).toBe(200);
          },
        ),
    },
    {
      name: `a ${side} webhook reviews a dry run, marked as such`,
      run: (context) =>
        withWebhooks(context, { side, answer: () => allow }, async ({ asked }) => {
          const { api, core } = context;
          await made(api.post(`${core("configmaps")}?dryRun=All`, configMap("a")));
          expect([asked()[0]?.["dryRun"], at(asked()[0], "options", "dryRun")]).toEqual([true, ["All"]]);
        }),
    },
    {
      name: `a ${side} webhook's warnings reach the asker`,
      run: (context) =>
        withWebhooks(
          context,
          { side, answer: () => ({ response: { allowed: true, warnings: ["mind the gap"] } }) },
          async () => {
            const answer = await context.api.post(context.core("configmaps"), configMap("a"));
            expect(answer.headers["warning"]).toBe('299 - "mind the gap"');
          },
        ),
    },
    {
      name: `a ${side} webhook is called for status and scale by their own resources`,
      run: (context) =>
        withWebhooks(
          context,
          {
            side,
            answer: () => allow,
            hooks: [
              {
                rules: [
                  {
                    apiGroups: ["contract.example.com"],
                    apiVersions: ["v1"],
                    resources: ["widgets/status", "widgets/scale"],
                    operations: ["*"],
                  },
                ],
              },
            ],
          },
          async ({ asked }) => {
            const { api } = context;
            await made(api.post(widgets(context), widget("a", { replicas: 1 })));
            await done(api.patch(`${widgets(context, "a")}/status`, "merge", { status: { phase: "On" } }));
            await done(api.patch(`${widgets(context, "a")}/scale`, "merge", { spec: { replicas: 3 } }));
            expect(
              asked().map((r) => [r["subResource"], r["requestSubResource"], at(r, "kind"), at(r, "object", "kind")]),
            ).toEqual([
              ["status", "status", { group: "contract.example.com", version: "v1", kind: "Widget" }, "Widget"],
              ["scale", "scale", { group: "autoscaling", version: "v1", kind: "Scale" }, "Scale"],
            ]);
            const [, scale] = asked();
            expect([at(scale, "oldObject", "spec", "replicas"), at(scale, "object", "spec", "replicas")]).toEqual([
              1, 3,
            ]);
          },
        ),
    },
    {
      name: `a ${side} webhook is called for connections to pods, with the options of the request`,
      run: (context) =>
        withWebhooks(
          context,
          {
            side,
            answer: () => denying({ message: "no shells", code: 403 }),
            hooks: [
              {
                // Options have no labels, so a selector of objects would never choose them.
                objectSelector: {},
                rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["pods/exec"], operations: ["CONNECT"] }],
              },
            ],
          },
          async ({ asked }) => {
            const { api, core, namespace } = context;
            const metadata = { name: "default" };
            await api.post(core("serviceaccounts"), { apiVersion: "v1", kind: "ServiceAccount", metadata });
            const spec = { containers: [{ name: "c", image: "i" }], automountServiceAccountToken: false };
            await made(api.post(core("pods"), { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec }));
            const path = `${core("pods", "p")}/exec?command=sh&command=-c&tty=true&stdin=false&container=c`;
            const answer = await api.post(path, {});
            expect(answer.code).toBe(403);
            expect(asked()).toMatchObject([
              {
                operation: "CONNECT",
                name: "p",
                namespace,
                kind: { group: "", version: "v1", kind: "PodExecOptions" },
                resource: { group: "", version: "v1", resource: "pods" },
                subResource: "exec",
                object: { kind: "PodExecOptions", apiVersion: "v1", tty: true, container: "c", command: ["sh", "-c"] },
                oldObject: null,
                dryRun: false,
                options: null,
              },
            ]);
          },
        ),
    },
  ];
}
