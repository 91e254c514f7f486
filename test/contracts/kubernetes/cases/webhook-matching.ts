import { expect } from "vitest";
import type { CaseGroup, ContractCase } from "../interface.ts";
import { at, configMap, done, made, refused } from "./shorthands.ts";
import {
  allow,
  configuration,
  CONFIGURATIONS,
  denying,
  MAPS,
  patching,
  pluralOf,
  withWebhooks,
} from "./webhook-words.ts";

/** Which requests come to a webhook. */
function matching(): ContractCase[] {
  const V2 = { ...MAPS, apiGroups: ["autoscaling"], apiVersions: ["v2"], resources: ["horizontalpodautoscalers"] };
  return [
    {
      name: "rules choose by group, version, resource, operation and scope",
      run: (context) =>
        withWebhooks(
          context,
          {
            side: "validating",
            hooks: [
              { rules: [{ ...MAPS, operations: ["UPDATE"] }] },
              { rules: [{ ...MAPS, apiGroups: ["apps"] }] },
              { rules: [{ ...MAPS, resources: ["secrets"] }] },
              { rules: [{ ...MAPS, apiVersions: ["v2"] }] },
              { rules: [{ ...MAPS, scope: "Cluster" }] },
              { rules: [{ ...MAPS, scope: "Namespaced" }] },
              { rules: [{ ...MAPS, resources: ["*"] }] },
              { rules: [{ ...MAPS, resources: ["*/*"], apiGroups: ["*"], apiVersions: ["*"] }] },
            ],
            answer: () => allow,
          },
          async ({ paths }) => {
            await made(context.api.post(context.core("configmaps"), configMap("a")));
            expect(paths().toSorted()).toEqual(["/5", "/6", "/7"]);
          },
        ),
    },
    {
      name: "an objectSelector matches the new or the old object",
      run: (context) =>
        withWebhooks(
          context,
          {
            side: "validating",
            hooks: [{ objectSelector: { matchExpressions: [{ key: "watched", operator: "In", values: ["yes"] }] } }],
            answer: () => allow,
          },
          async ({ asked }) => {
            const { api, core } = context;
            await made(api.post(core("configmaps"), configMap("a")));
            expect(asked()).toHaveLength(0);
            await done(api.patch(core("configmaps", "a"), "merge", { metadata: { labels: { watched: "yes" } } }));
            await done(api.patch(core("configmaps", "a"), "merge", { metadata: { labels: { watched: "no" } } }));
            await done(api.patch(core("configmaps", "a"), "merge", { metadata: { labels: { watched: "none" } } }));
            expect(asked()).toHaveLength(2);
          },
        ),
    },
    {
      name: "a namespaceSelector matches the namespace",
      run: (context) =>
        withWebhooks(
          context,
          {
            side: "validating",
            hooks: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "elsewhere" } } }, {}],
            answer: () => allow,
          },
          async ({ paths }) => {
            await made(context.api.post(context.core("configmaps"), configMap("a")));
            expect(paths()).toEqual(["/1"]);
          },
        ),
    },
    {
      name: "matchConditions choose by what CEL says of the request",
      run: (context) =>
        withWebhooks(
          context,
          {
            side: "validating",
            hooks: [
              { matchConditions: [{ name: "by-user", expression: "request.userInfo.username == 'contract-admin'" }] },
              {
                matchConditions: [
                  { name: "by-data", expression: "has(object.data) && object.data.a == '1'" },
                  { name: "no-old", expression: "oldObject == null" },
                ],
              },
              {
                matchConditions: [
                  {
                    name: "by-right",
                    expression:
                      "authorizer.group('').resource('configmaps').namespace(request.namespace).check('create').allowed()",
                  },
                ],
              },
              { matchConditions: [{ name: "never", expression: "request.name.startsWith('z')" }] },
              {
                matchConditions: [
                  { name: "by-request-resource", expression: "authorizer.requestResource.check('delete').allowed()" },
                ],
              },
            ],
            answer: () => allow,
          },
          async ({ paths }) => {
            await made(context.api.post(context.core("configmaps"), configMap("a", { data: { a: "1" } })));
            expect(paths().toSorted()).toEqual(["/0", "/1", "/2", "/4"]);
          },
        ),
    },
    {
      name: "a matchCondition that cannot be evaluated rejects the request, unless failurePolicy is Ignore",
      run: (context) =>
        withWebhooks(
          context,
          {
            side: "validating",
            hooks: [
              { failurePolicy: "Ignore", matchConditions: [{ name: "fails", expression: "object.data.none == '1'" }] },
              { matchConditions: [{ name: "fails", expression: "object.data.none == '1'" }] },
            ],
            answer: () => allow,
          },
          async ({ asked }) => {
            const answer = await context.api.post(context.core("configmaps"), configMap("a", { data: { a: "1" } }));
            refused(
              answer,
              403,
              "Forbidden",
              `configmaps "a" is forbidden: expression 'object.data.none == '1'' resulted in error: no such key: none`,
            );
            expect(asked()).toHaveLength(0);
          },
        ),
    },
    {
      name: "a webhook is called for an equivalent version in the version of the rule, unless the match is to be exact",
      run: (context) =>
        withWebhooks(
          context,
          {
            side: "mutating",
            hooks: [{ rules: [V2], matchPolicy: "Exact" }, { rules: [V2] }],
            answer: () => patching({ op: "add", path: "/spec/maxReplicas", value: 5 }),
          },
          async ({ asked, paths }) => {
            const spec = { maxReplicas: 1, scaleTargetRef: { kind: "Deployment", name: "d", apiVersion: "apps/v1" } };
            const body = await made(
              context.api.post(context.apis("autoscaling/v1", "horizontalpodautoscalers"), {
                apiVersion: "autoscaling/v1",
                kind: "HorizontalPodAutoscaler",
                metadata: { name: "a" },
                spec: { ...spec, targetCPUUtilizationPercentage: 50 },
              }),
            );
            expect(paths()).toEqual(["/1"]);
            expect(asked()[0]).toMatchObject({
              kind: { group: "autoscaling", version: "v2", kind: "HorizontalPodAutoscaler" },
              resource: { version: "v2" },
              requestKind: { version: "v1" },
              requestResource: { version: "v1" },
              object: { apiVersion: "autoscaling/v2", spec: { metrics: [{ type: "Resource" }] } },
            });
            expect([body["apiVersion"], at(body, "spec", "maxReplicas")]).toEqual(["autoscaling/v1", 5]);
          },
        ),
    },
    {
      name: "webhooks are not called for webhook configurations",
      run: (context) =>
        withWebhooks(
          context,
          {
            side: "validating",
            hooks: [
              {
                namespaceSelector: {},
                rules: [
                  {
                    apiGroups: ["admissionregistration.k8s.io"],
                    apiVersions: ["*"],
                    resources: ["*"],
                    operations: ["*"],
                  },
                ],
              },
            ],
            answer: () => denying(),
          },
          async ({ asked }) => {
            const path = `${CONFIGURATIONS}/${pluralOf("mutating")}`;
            const name = context.unique("exempt");
            await made(context.api.post(path, configuration("mutating", name, [])));
            await done(context.api.delete(`${path}/${name}`));
            expect(asked()).toHaveLength(0);
          },
        ),
    },
    {
      name: "webhooks are called for namespaces, which are in themselves",
      run: (context) => {
        const name = context.unique("called");
        return withWebhooks(
          context,
          {
            side: "validating",
            hooks: [
              {
                namespaceSelector: { matchLabels: { chosen: name } },
                rules: [{ ...MAPS, resources: ["namespaces"], operations: ["CREATE"] }],
              },
            ],
            answer: () => allow,
          },
          async ({ asked }) => {
            await made(
              context.api.post("/api/v1/namespaces", {
                apiVersion: "v1",
                kind: "Namespace",
                metadata: { name, labels: { chosen: name } },
              }),
            );
            expect(asked().map((r) => [r["name"], r["namespace"]])).toEqual([[name, name]]);
          },
        );
      },
    },
  ];
}

export const webhookMatching: CaseGroup = { title: "matching of admission webhooks", cases: matching() };
