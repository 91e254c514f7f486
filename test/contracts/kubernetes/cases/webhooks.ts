import { expect } from "vitest";
import type { CaseGroup, ContractCase, Json } from "../interface.ts";
import { reviews } from "./webhook-reviews.ts";
import { widget, widgets } from "./custom-resource.ts";
import { at, configMap, done, made, refused } from "./shorthands.ts";
import { allow, denying, patching, withWebhooks, type Side } from "./webhook-words.ts";

const SIDES: readonly Side[] = ["mutating", "validating"];

/** A webhook's denial, and the code, reason and message that the client gets. */
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
    name: "a mutating webhook with reinvocation is called again when a later one changed the object",
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
    name: "the result of a mutating webhook is validated",
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
                  resources: ["widgets"],
                  operations: ["CREATE"],
                },
              ],
            },
          ],
          answer: () =>
            patching({ op: "add", path: "/spec/replicas", value: 7 }, { op: "add", path: "/spec/unheardOf", value: 1 }),
        },
        async () => {
          const body = await made(context.api.post(widgets(context), widget("a")));
          expect([at(body, "spec", "replicas"), at(body, "spec", "unheardOf")]).toEqual([7, undefined]);
        },
      ),
  },
  {
    name: "a mutating webhook changes the scale that is requested",
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
                  resources: ["widgets/scale"],
                  operations: ["UPDATE"],
                },
              ],
            },
          ],
          answer: () => patching({ op: "replace", path: "/spec/replicas", value: 2 }),
        },
        async () => {
          await made(context.api.post(widgets(context), widget("a", { replicas: 1 })));
          await done(context.api.patch(`${widgets(context, "a")}/scale`, "merge", { spec: { replicas: 9 } }));
          expect(at(await done(context.api.get(widgets(context, "a"))), "spec", "replicas")).toBe(2);
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

export const webhooks: CaseGroup = {
  title: "admission webhooks",
  cases: [...SIDES.flatMap((side) => [...denials(side), ...reviews(side)]), ...mutations],
};
