import { expect } from "vitest";
import type { CaseGroup, ContractCase, Json } from "../interface.ts";
import type { WebhookAnswer } from "../webhook-server.ts";
import { at, configMap, made, refused } from "./shorthands.ts";
import {
  allow,
  configuration,
  CONFIGURATIONS,
  denying,
  hook,
  patching,
  pluralOf,
  withWebhooks,
  type Side,
} from "./webhook-words.ts";

const SIDES: readonly Side[] = ["mutating", "validating"];
const FAILED = 'Internal error occurred: failed calling webhook "hook-0.example.com": ';

/** Invalid responses of a webhook, and the message that the client gets under failurePolicy Fail. */
const NONSENSE: readonly [string, WebhookAnswer, RegExp][] = [
  [
    "an error",
    { code: 500, text: "boom" },
    /failed to call webhook: an error on the server \("boom"\) has prevented the request from succeeding$/,
  ],
  ["not found", { code: 404, text: "no" }, /failed to call webhook: the server could not find the requested resource$/],
  [
    "another uid",
    { response: { uid: "x", allowed: true } },
    /received invalid webhook response: expected response\.uid="[-0-9a-f]+", got "x"$/,
  ],
  [
    "no response",
    { text: JSON.stringify({ kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1" }) },
    /received invalid webhook response: webhook response was absent$/,
  ],
];

const PATCHLESS: readonly [Side, string, WebhookAnswer, RegExp][] = [
  [
    "validating",
    "a patch",
    patching({ op: "add", path: "/data", value: {} }),
    /received invalid webhook response: validating webhook may not return response\.patch$/,
  ],
  [
    "mutating",
    "a patch of no type",
    { response: { allowed: true, patch: "W10=" } },
    /received invalid webhook response: webhook returned response\.patch but not response\.patchType$/,
  ],
  [
    "mutating",
    "a patch type without a patch",
    { response: { allowed: true, patchType: "JSONPatch" } },
    /received invalid webhook response: webhook returned response\.patchType but not response\.patch$/,
  ],
  [
    "mutating",
    "a patch of another type",
    { response: { allowed: true, patch: "W3t9XQ==", patchType: "Other" } },
    /unsupported patch type "Other"$/,
  ],
];

function failures(): ContractCase[] {
  const closed = (side: Side, what: string, answer: WebhookAnswer, why: RegExp): ContractCase => ({
    name: `a ${side} webhook that answers ${what} fails closed`,
    run: (context) =>
      withWebhooks(context, { side, answer: () => answer }, async () => {
        const answer = await context.api.post(context.core("configmaps"), configMap("a"));
        refused(answer, 500, "InternalError", why);
        expect(String(answer.body["message"])).toContain(FAILED);
        expect(at(answer.body, "details", "causes", 0, "message")).toBe(
          String(answer.body["message"]).replace("Internal error occurred: ", ""),
        );
      }),
  });
  return [
    ...SIDES.flatMap((side) => NONSENSE.map(([what, answer, why]) => closed(side, what, answer, why))),
    ...PATCHLESS.map(([side, what, answer, why]) => closed(side, what, answer, why)),
    ...SIDES.map((side): ContractCase => ({
      name: `a ${side} webhook that may fail fails open`,
      run: (context) =>
        withWebhooks(
          context,
          { side, hooks: [{ failurePolicy: "Ignore" }], answer: () => ({ code: 500, text: "boom" }) },
          async ({ asked }) => {
            await made(context.api.post(context.core("configmaps"), configMap("a")));
            expect(asked()).toHaveLength(1);
          },
        ),
    })),
    ...SIDES.map((side): ContractCase => ({
      name: `a ${side} webhook that does not answer in time fails`,
      run: (context) =>
        withWebhooks(context, { side, hooks: [{ timeoutSeconds: 1 }], answer: () => ({ silent: true }) }, async () => {
          const answer = await context.api.post(context.core("configmaps"), configMap("a"));
          refused(
            answer,
            500,
            "InternalError",
            /failed to call webhook: Post "https:\/\/127\.0\.0\.1:\d+\/0\?timeout=1s": (context deadline exceeded|net\/http: request canceled.*)$/,
          );
        }),
    })),
    {
      name: "a denial counts whatever the failure policy is",
      run: (context) =>
        withWebhooks(
          context,
          {
            side: "validating",
            hooks: [{ failurePolicy: "Ignore" }],
            answer: () => denying({ code: 403, message: "no" }),
          },
          async () => {
            expect((await context.api.post(context.core("configmaps"), configMap("a"))).code).toBe(403);
          },
        ),
    },
    {
      name: "a webhook that does not listen, or whose certificate is not trusted, fails the request",
      run: (context) =>
        withWebhooks(
          context,
          {
            side: "validating",
            hooks: [
              {
                clientConfig: { url: "https://127.0.0.1:1/x" },
                objectSelector: { matchLabels: { to: "unreachable" } },
              },
              {
                clientConfig: { service: { namespace: "none", name: "none" } },
                objectSelector: { matchLabels: { to: "service" } },
              },
            ],
            answer: () => allow,
          },
          async () => {
            const labelled = (to: string): Json => configMap("a", { metadata: { labels: { to } } });
            const { api, core } = context;
            refused(
              await api.post(core("configmaps"), labelled("unreachable")),
              500,
              "InternalError",
              `${FAILED}failed to call webhook: Post "https://127.0.0.1:1/x?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused`,
            );
            refused(
              await api.post(core("configmaps"), labelled("service")),
              500,
              "InternalError",
              'Internal error occurred: failed calling webhook "hook-1.example.com": failed to call webhook: Post "https://none.none.svc:443/?timeout=10s": service "none" not found',
            );
          },
        ),
    },
    {
      name: "a webhook that no authority vouches for fails",
      run: (context) =>
        withWebhooks(context, { side: "validating", answer: () => allow }, async ({ server }) => {
          const { api, core, namespace } = context;
          const name = context.unique("untrusted");
          const path = `${CONFIGURATIONS}/${pluralOf("validating")}`;
          const here = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } };
          await made(api.post(path, configuration("validating", name, [hook({ url: server.url }, here)])));
          try {
            const end = Date.now() + 5000;
            let answer = await api.post(`${core("configmaps")}?dryRun=All`, configMap("a"));
            while (answer.code === 201 && Date.now() < end)
              answer = await api.post(`${core("configmaps")}?dryRun=All`, configMap("a"));
            refused(
              answer,
              500,
              "InternalError",
              /tls: failed to verify certificate: x509: certificate signed by unknown authority$/,
            );
          } finally {
            await api.delete(`${path}/${name}`);
          }
        }),
    },
    {
      name: "a webhook of a Service with an external name is called there, by its own name",
      async run(context) {
        const { api, core, namespace } = context;
        let port = 0;
        await withWebhooks(context, { side: "validating", answer: () => allow }, async ({ server, asked }) => {
          port = server.port;
          await made(
            api.post(core("services"), {
              apiVersion: "v1",
              kind: "Service",
              metadata: { name: "hook" },
              spec: { type: "ExternalName", externalName: "localhost" },
            }),
          );
          const name = context.unique("service");
          const path = `${CONFIGURATIONS}/${pluralOf("validating")}`;
          const here = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } };
          const service = { namespace, name: "hook", port, path: "/service" };
          const config = hook({ service, caBundle: server.caBundle }, here);
          await made(api.post(path, configuration("validating", name, [config])));
          try {
            const end = Date.now() + 5000;
            let answer = await api.post(`${core("configmaps")}?dryRun=All`, configMap("a"));
            while (answer.code === 201 && Date.now() < end)
              answer = await api.post(`${core("configmaps")}?dryRun=All`, configMap("a"));
            // The certificate is for another name.
            refused(
              answer,
              500,
              "InternalError",
              new RegExp(
                `Post "https://hook\\.${namespace}\\.svc:${port}/service\\?timeout=10s": tls: failed to verify certificate: x509: certificate is valid for `,
              ),
            );
            expect(asked().length).toBeGreaterThan(0);
          } finally {
            await api.delete(`${path}/${name}`);
          }
        });
      },
    },
    {
      name: "a webhook with side effects refuses dry runs where it was stored so",
      run: (context) =>
        withWebhooks(
          context,
          { side: "validating", hooks: [{ sideEffects: "NoneOnDryRun" }], answer: () => allow },
          async ({ asked }) => {
            await made(context.api.post(`${context.core("configmaps")}?dryRun=All`, configMap("a")));
            expect(asked()).toHaveLength(1);
          },
        ),
    },
  ];
}

export const webhookFailures: CaseGroup = { title: "admission webhooks that fail", cases: failures() };
