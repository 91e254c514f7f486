import { expect } from "vitest";
import type { Chapter, ContractCase, Json } from "../interface.ts";
import { contraption, contraptions } from "./contraption.ts";
import { at, configMap, done, made, refused } from "./say.ts";
import { allow, denying, patching, withWebhooks, type Side } from "./webhook-words.ts";

const SIDES: readonly Side[] = ["mutating", "validating"];

/** What a webhook answers, and what its asker is told. */
const DENIALS: readonly [string, Json | undefined, number, string, string][] = [
  [
    "without explanation",
    undefined,
    400,
    "",
    'admission webhook "hook-0.example.com" denied the request without explanation',
  ],
  [
    "with a message",
    { message: "too big" },
    400,
    "",
    'admission webhook "hook-0.example.com" denied the request: too big',
  ],
  [
    "with a reason alone",
    { reason: "Forbidden" },
    400,
    "Forbidden",
    'admission webhook "hook-0.example.com" denied the request: Forbidden',
  ],
  [
    "with code, reason and message",
    { code: 403, reason: "Forbidden", message: "no" },
    403,
    "Forbidden",
    'admission webhook "hook-0.example.com" denied the request: no',
  ],
  [
    "with a code that says success",
    { code: 200, status: "Success", message: "no" },
    400,
    "",
    'admission webhook "hook-0.example.com" denied the request: no',
  ],
];

function denials(side: Side): ContractCase[] {
  return DENIALS.map(([how, status, code, reason, message]) => ({
    name: `a ${side} webhook denies ${how}`,
    run: (context) =>
      withWebhooks(context, { side, answer: () => denying(status) }, async () => {
        const answer = await context.api.post(context.core("configmaps"), configMap("a"));
        expect([answer.code, answer.body["reason"] ?? "", answer.body["message"]]).toEqual([code, reason, message]);
        expect(answer.body).toMatchObject({ kind: "Status", status: "Failure", code });
        expect((await context.api.get(context.core("configmaps", "a"))).code).toBe(404);
      }),
  }));
}

/** What comes to the webhook, by operation. */
function reviews(side: Side): ContractCase[] {
  return [
    {
      name: `a ${side} webhook is told of a create`,
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
      name: `a ${side} webhook is told of updates and patches, with what was`,
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
          const told = asked().map((r) => [
            r["operation"],
            at(r, "oldObject", "data", "a"),
            at(r, "object", "data", "a"),
            at(r, "options", "kind"),
          ]);
          expect(told).toEqual([
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
      name: `a ${side} webhook is told of a create by apply`,
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
      name: `a ${side} webhook is told of deletions, one by one and of a collection`,
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
          { side, answer: (r) => (r["operation"] === "DELETE" ? denying({ message: "stay" }) : allow) },
          async () => {
            const { api, core } = context;
            await made(api.post(core("configmaps"), configMap("a")));
            refused(
              await api.delete(core("configmaps", "a")),
              400,
              undefined as unknown as string,
              'admission webhook "hook-0.example.com" denied the request: stay',
            );
            expect((await api.get(core("configmaps", "a"))).code).toBe(200);
          },
        ),
    },
    {
      name: `a ${side} webhook is asked about dry runs and told so`,
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
      name: `a ${side} webhook is asked about status and scale by their own resources`,
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
                    resources: ["contraptions/status", "contraptions/scale"],
                    operations: ["*"],
                  },
                ],
              },
            ],
          },
          async ({ asked }) => {
            const { api } = context;
            await made(api.post(contraptions(context), contraption("a", { replicas: 1 })));
            await done(api.patch(`${contraptions(context, "a")}/status`, "merge", { status: { phase: "On" } }));
            await done(api.patch(`${contraptions(context, "a")}/scale`, "merge", { spec: { replicas: 3 } }));
            expect(
              asked().map((r) => [r["subResource"], r["requestSubResource"], at(r, "kind"), at(r, "object", "kind")]),
            ).toEqual([
              [
                "status",
                "status",
                { group: "contract.example.com", version: "v1", kind: "Contraption" },
                "Contraption",
              ],
              ["scale", "scale", { group: "autoscaling", version: "v1", kind: "Scale" }, "Scale"],
            ]);
            const [, scale] = asked();
            expect([at(scale, "oldObject", "spec", "replicas"), at(scale, "object", "spec", "replicas")]).toEqual([
              1, 3,
            ]);
          },
        ),
    },
  ];
}

const mutations: ContractCase[] = [
  {
    name: "a mutating webhook changes what is created, and owns nothing of it",
    run: (context) =>
      withWebhooks(
        context,
        { side: "mutating", answer: () => patching({ op: "add", path: "/data", value: { a: "hook" } }) },
        async () => {
          const body = await made(
            context.api.post(
              `${context.core("configmaps")}?fieldManager=m`,
              configMap("a", { metadata: { labels: { l: "1" } } }),
            ),
          );
          expect(body["data"]).toEqual({ a: "hook" });
          const owners = at(body, "metadata", "managedFields") as Json[];
          expect(owners.map((o) => [o["manager"], at(o, "fieldsV1", "f:data")])).toEqual([["m", undefined]]);
        },
      ),
  },
  {
    name: "a mutating webhook changes updates and patches",
    run: (context) =>
      withWebhooks(
        context,
        {
          side: "mutating",
          answer: (r) =>
            r["operation"] === "UPDATE"
              ? patching({ op: "add", path: "/metadata/labels", value: { seen: "yes" } })
              : allow,
        },
        async () => {
          const { api, core } = context;
          await made(api.post(core("configmaps"), configMap("a")));
          const body = await done(api.patch(core("configmaps", "a"), "merge", { data: { b: "2" } }));
          expect([body["data"], at(body, "metadata", "labels")]).toEqual([{ b: "2" }, { seen: "yes" }]);
        },
      ),
  },
  {
    name: "mutating webhooks run in order, each on what the last one made",
    run: (context) =>
      withWebhooks(
        context,
        {
          side: "mutating",
          hooks: [{}, {}],
          answer: (_, path) => patching({ op: "add", path: "/data", value: { by: path.split("?")[0] } }),
        },
        async ({ asked, paths }) => {
          const body = await made(context.api.post(context.core("configmaps"), configMap("a")));
          expect(paths()).toEqual(["/0", "/1"]);
          expect(at(asked()[1], "object", "data")).toEqual({ by: "/0" });
          expect(body["data"]).toEqual({ by: "/1" });
        },
      ),
  },
  {
    name: "a mutating webhook that wants to is asked again when a later one changed the object",
    run: (context) =>
      withWebhooks(
        context,
        {
          side: "mutating",
          hooks: [{ reinvocationPolicy: "IfNeeded" }, {}, { reinvocationPolicy: "IfNeeded" }],
          answer: (_, path) =>
            path.startsWith("/1") ? patching({ op: "add", path: "/data", value: { a: "1" } }) : allow,
        },
        async ({ paths }) => {
          await made(context.api.post(context.core("configmaps"), configMap("a")));
          expect(paths()).toEqual(["/0", "/1", "/2", "/0"]);
        },
      ),
  },
  {
    name: "what a mutating webhook makes is validated",
    run: (context) =>
      withWebhooks(
        context,
        { side: "mutating", answer: () => patching({ op: "add", path: "/metadata/labels", value: { "a b": "1" } }) },
        async () => {
          refused(
            await context.api.post(context.core("configmaps"), configMap("a")),
            422,
            "Invalid",
            /^ConfigMap "a" is invalid: metadata\.labels: Invalid value: "a b"/,
          );
        },
      ),
  },
  {
    name: "a mutating webhook's patch that cannot be applied is an error",
    run: (context) =>
      withWebhooks(
        context,
        { side: "mutating", answer: () => patching({ op: "remove", path: "/data/none" }) },
        async () => {
          refused(
            await context.api.post(context.core("configmaps"), configMap("a")),
            500,
            "InternalError",
            /^Internal error occurred: /,
          );
        },
      ),
  },
  {
    name: "a mutating webhook changes custom objects, which are pruned and defaulted",
    run: (context) =>
      withWebhooks(
        context,
        {
          side: "mutating",
          hooks: [
            {
              rules: [
                {
                  apiGroups: ["contract.example.com"],
                  apiVersions: ["v1"],
                  resources: ["contraptions"],
                  operations: ["CREATE"],
                },
              ],
            },
          ],
          answer: () =>
            patching({ op: "add", path: "/spec/replicas", value: 7 }, { op: "add", path: "/spec/unheardOf", value: 1 }),
        },
        async () => {
          const body = await made(context.api.post(contraptions(context), contraption("a")));
          expect([at(body, "spec", "replicas"), at(body, "spec", "unheardOf")]).toEqual([7, undefined]);
        },
      ),
  },
  {
    name: "a mutating webhook changes the scale that is asked for",
    run: (context) =>
      withWebhooks(
        context,
        {
          side: "mutating",
          hooks: [
            {
              rules: [
                {
                  apiGroups: ["contract.example.com"],
                  apiVersions: ["v1"],
                  resources: ["contraptions/scale"],
                  operations: ["UPDATE"],
                },
              ],
            },
          ],
          answer: () => patching({ op: "replace", path: "/spec/replicas", value: 2 }),
        },
        async () => {
          await made(context.api.post(contraptions(context), contraption("a", { replicas: 1 })));
          await done(context.api.patch(`${contraptions(context, "a")}/scale`, "merge", { spec: { replicas: 9 } }));
          expect(at(await done(context.api.get(contraptions(context, "a"))), "spec", "replicas")).toBe(2);
        },
      ),
  },
  {
    name: "generateName makes its name after mutation and before validation",
    run: (context) =>
      withWebhooks(context, { side: "mutating", answer: () => allow }, async ({ asked }) => {
        const body = await made(
          context.api.post(context.core("configmaps"), {
            apiVersion: "v1",
            kind: "ConfigMap",
            metadata: { generateName: "g-" },
          }),
        );
        expect(at(body, "metadata", "name")).toMatch(/^g-/);
        expect([asked()[0]?.["name"], at(asked()[0], "object", "metadata", "name")]).toEqual([undefined, undefined]);
      }),
  },
];

export const webhooks: Chapter = {
  title: "admission webhooks",
  cases: [...SIDES.flatMap((side) => [...denials(side), ...reviews(side)]), ...mutations],
};
