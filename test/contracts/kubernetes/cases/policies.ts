import { expect } from "vitest";
import type { CaseGroup, ContractCase, Json } from "../interface.ts";
import { withPolicy } from "./policy-words.ts";
import { at, configMap, done, made, refused } from "./shorthands.ts";
import { MAPS } from "./webhook-words.ts";

/** A validation of a policy, the data it is applied to, and the message of the denial; undefined if it is accepted. */
const JUDGEMENTS: readonly [string, Json, Json, string?, number?, string?][] = [
  ["holds", { expression: "object.data.a == '1'" }, { a: "1" }],
  ["does not hold", { expression: "object.data.a == '1'" }, { a: "2" }, "failed expression: object.data.a == '1'"],
  ["has a message", { expression: "object.data.a == '1'", message: " a must be 1 " }, { a: "2" }, "a must be 1"],
  [
    "computes its message",
    { expression: "object.data.a == '1'", message: "m", messageExpression: "'a is ' + object.data.a" },
    { a: "2" },
    "a is 2",
  ],
  [
    "cannot compute its message",
    { expression: "object.data.a == '1'", message: "m", messageExpression: "object.data.none + ''" },
    { a: "2" },
    "m",
  ],
  ["forbids", { expression: "false", message: "no", reason: "Forbidden" }, {}, "no", 403, "Forbidden"],
  [
    "finds it too large",
    { expression: "false", message: "no", reason: "RequestEntityTooLarge" },
    {},
    "no",
    413,
    "RequestEntityTooLarge",
  ],
  [
    "cannot be evaluated",
    { expression: "object.data.none == '1'" },
    { a: "1" },
    "expression 'object.data.none == '1'' resulted in error: no such key: none",
  ],
  [
    "knows the request",
    {
      expression:
        "request.operation == 'CREATE' && request.name == 'a' && request.kind.kind == 'ConfigMap' && request.resource.resource == 'configmaps' && request.dryRun == false && request.userInfo.username == 'contract-admin'",
    },
    {},
  ],
  [
    "knows that nothing was",
    {
      expression:
        "oldObject == null && namespaceObject.metadata.name == request.namespace && object.metadata.namespace == request.namespace",
    },
    {},
  ],
  [
    "asks what the asker may do",
    {
      expression:
        "authorizer.group('').resource('secrets').namespace(object.metadata.namespace).check('list').allowed() && authorizer.path('/healthz').check('get').allowed()",
    },
    {},
  ],
  [
    "asks what an account may do",
    { expression: "!authorizer.serviceAccount('a', 'b').group('').resource('secrets').check('list').allowed()" },
    {},
  ],
  [
    "uses Kubernetes' libraries",
    {
      expression:
        "quantity('1Gi').isGreaterThan(quantity('1M')) && ip('10.0.0.1').family() == 4 && cidr('10.0.0.0/8').containsIP('10.1.2.3') && url('https://a/b').getHost() == 'a' && ['b', 'a'].indexOf('a') == 1 && 'a-1'.matches('^[a-z]-[0-9]$')",
    },
    {},
  ],
];

const judgements = JUDGEMENTS.map(
  ([what, validation, data, message, code = 422, reason = "Invalid"]): ContractCase => ({
    name: `a policy that ${what}`,
    run: (context) =>
      withPolicy(context, { spec: { validations: [validation] } }, async ({ policy, binding }) => {
        const answer = await context.api.post(context.core("configmaps"), configMap("a", { data }));
        if (message === undefined) {
          expect([answer.code, answer.body["message"]]).toEqual([201, undefined]);
          return;
        }
        const denial = `ValidatingAdmissionPolicy '${policy}' with binding '${binding}' denied request: ${message}`;
        refused(answer, code, reason, `configmaps "a" is forbidden: ${denial}`);
        expect(answer.body["details"]).toEqual({ name: "a", kind: "configmaps", causes: [{ message: denial }] });
      }),
  }),
);

const rest: ContractCase[] = [
  {
    name: "a policy sees what was and what will be",
    run: (context) =>
      withPolicy(
        context,
        {
          spec: {
            matchConstraints: { resourceRules: [{ ...MAPS, operations: ["UPDATE", "DELETE"] }] },
            validations: [
              {
                expression:
                  "request.operation == 'DELETE' ? !has(oldObject.data.keep) : object.data.a == oldObject.data.a",
                message: "a remains",
              },
            ],
          },
        },
        async () => {
          const { api, core } = context;
          await made(api.post(core("configmaps"), configMap("a", { data: { a: "1", keep: "yes" } })));
          await done(api.patch(core("configmaps", "a"), "merge", { data: { b: "1" } }));
          refused(
            await api.patch(core("configmaps", "a"), "merge", { data: { a: "2" } }),
            422,
            "Invalid",
            /a remains$/,
          );
          refused(
            await api.delete(core("configmaps", "a")),
            422,
            "Invalid",
            /^configmaps "a" is forbidden: .*a remains$/,
          );
          await done(api.patch(core("configmaps", "a"), "merge", { data: { keep: null } }));
          await done(api.delete(core("configmaps", "a")));
        },
      ),
  },
  {
    name: "a policy with failurePolicy Ignore accepts what cannot be evaluated, and denies what evaluates to false",
    run: (context) =>
      withPolicy(
        context,
        {
          spec: {
            failurePolicy: "Ignore",
            validations: [{ expression: "object.data.none == '1'" }, { expression: "object.data.a == '1'" }],
          },
        },
        async () => {
          const { api, core } = context;
          await made(api.post(core("configmaps"), configMap("a", { data: { a: "1" } })));
          refused(
            await api.post(core("configmaps"), configMap("b", { data: { a: "2" } })),
            422,
            "Invalid",
            /failed expression: object\.data\.a == '1'$/,
          );
        },
      ),
  },
  {
    name: "variables are worked out when they are used, from each other",
    run: (context) =>
      withPolicy(
        context,
        {
          spec: {
            variables: [
              { name: "data", expression: "object.data" },
              { name: "total", expression: "variables.data.map(k, int(variables.data[k])).sum()" },
              { name: "broken", expression: "object.data.none" },
            ],
            validations: [{ expression: "variables.total <= 3 || variables.broken == ''" }],
          },
        },
        async () => {
          const { api, core } = context;
          await made(api.post(core("configmaps"), configMap("a", { data: { a: "1", b: "2" } })));
          refused(
            await api.post(core("configmaps"), configMap("b", { data: { a: "4" } })),
            422,
            "Invalid",
            /resulted in error: composited variable "broken" fails to evaluate: .*no such key: none$/,
          );
        },
      ),
  },
  {
    name: "matchConditions of a policy choose what it judges",
    run: (context) =>
      withPolicy(
        context,
        {
          spec: {
            matchConditions: [{ name: "named", expression: "request.name.startsWith('x')" }],
            validations: [{ expression: "false", message: "no" }],
          },
        },
        async () => {
          await made(context.api.post(context.core("configmaps"), configMap("a")));
          refused(await context.api.post(context.core("configmaps"), configMap("x")), 422, "Invalid", /: no$/);
        },
      ),
  },
  {
    name: "rules choose by name and leave out",
    run: (context) =>
      withPolicy(
        context,
        {
          spec: {
            matchConstraints: {
              resourceRules: [{ ...MAPS, resourceNames: ["a", "b"] }],
              excludeResourceRules: [{ ...MAPS, resourceNames: ["b"] }],
            },
            validations: [{ expression: "false", message: "no" }],
          },
        },
        async () => {
          const { api, core } = context;
          refused(await api.post(core("configmaps"), configMap("a")), 422, "Invalid", /: no$/);
          await made(api.post(core("configmaps"), configMap("b")));
          await made(api.post(core("configmaps"), configMap("c")));
        },
      ),
  },
  {
    name: "a binding that warns lets pass and says so",
    run: (context) =>
      withPolicy(
        context,
        {
          spec: { validations: [{ expression: "false", message: "careful" }] },
          bound: { validationActions: ["Warn", "Audit"] },
        },
        async ({ policy, binding }) => {
          const answer = await context.api.post(context.core("configmaps"), configMap("a"));
          expect(answer.code).toBe(201);
          expect(answer.headers["warning"]).toBe(
            `299 - "Validation failed for ValidatingAdmissionPolicy '${policy}' with binding '${binding}': careful"`,
          );
        },
      ),
  },
  {
    name: "parameters are looked up by name, and may be missing",
    run: (context) => {
      const paramKind = { apiVersion: "v1", kind: "ConfigMap" };
      const { namespace, core, api } = context;
      const labels = { kind: "param" };
      const spec = {
        paramKind,
        matchConstraints: { resourceRules: [{ ...MAPS, operations: ["CREATE"] }] },
        matchConditions: [{ name: "no-params", expression: "!has(object.metadata.labels)" }],
        validations: [
          {
            expression: "int(object.data.size) <= int(params.data.max)",
            messageExpression: "'at most ' + params.data.max",
          },
        ],
      };
      const bound = { paramRef: { name: "limits", namespace, parameterNotFoundAction: "Deny" } };
      return withPolicy(context, { spec, bound }, async ({ policy, binding }) => {
        const head = `configmaps "a" is forbidden: ValidatingAdmissionPolicy '${policy}' with binding '${binding}' denied request: `;
        const big = configMap("a", { data: { size: "9" } });
        refused(
          await api.post(core("configmaps"), big),
          422,
          "Invalid",
          `${head}failed to configure binding: no params found for policy binding with \`Deny\` parameterNotFoundAction`,
        );
        const limits = (max: string): Json => configMap("limits", { metadata: { labels, namespace }, data: { max } });
        // The limits themselves cannot be written while the binding has none.
        refused(await api.post(core("configmaps"), limits("5")), 422, "Invalid", /no params found/);
      });
    },
  },
  {
    name: "a policy judges by each parameter that a selector finds, or by none",
    async run(context) {
      const { namespace, core, api } = context;
      for (const max of ["5", "7"]) {
        const labels = { kind: "param", max };
        const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: `max-${max}`, labels } };
        await made(api.post(core("secrets"), secret));
      }
      const spec = {
        paramKind: { apiVersion: "v1", kind: "Secret" },
        validations: [
          {
            expression: "params == null || int(object.data.size) <= int(params.metadata.labels.max)",
            messageExpression: "'more than ' + params.metadata.name",
          },
        ],
      };
      const selector = { matchLabels: { kind: "param" } };
      const bound = { paramRef: { selector, namespace, parameterNotFoundAction: "Allow" } };
      const also = [
        { paramRef: { selector: { matchLabels: { kind: "none" } }, namespace, parameterNotFoundAction: "Allow" } },
      ];
      await withPolicy(context, { spec, bound, also }, async () => {
        const sized = (size: string): Json => configMap("a", { data: { size } });
        const end = Date.now() + 5000;
        let answer = await api.post(`${core("configmaps")}?dryRun=All`, sized("6"));
        while (answer.code === 201 && Date.now() < end)
          answer = await api.post(`${core("configmaps")}?dryRun=All`, sized("6"));
        refused(answer, 422, "Invalid", /more than max-5$/);
        await made(api.post(core("configmaps"), sized("5")));
      });
    },
  },
  {
    name: "a policy of a kind that is not there cannot be applied",
    run: (context) =>
      withPolicy(
        context,
        {
          spec: {
            matchConstraints: {
              resourceRules: [{ ...MAPS, operations: ["CREATE"] }],
              namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": context.namespace } },
              objectSelector: { matchExpressions: [{ key: "probe", operator: "DoesNotExist" }] },
            },
            paramKind: { apiVersion: "none.example.com/v1", kind: "Nothing" },
            validations: [{ expression: "true" }],
          },
          bound: { paramRef: { name: "x", parameterNotFoundAction: "Allow" } },
        },
        async ({ policy }) => {
          const answer = await context.api.post(context.core("configmaps"), configMap("a"));
          refused(
            answer,
            422,
            "Invalid",
            `configmaps "a" is forbidden: ValidatingAdmissionPolicy '${policy}' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'none.example.com/v1, Kind=Nothing'`,
          );
        },
      ),
  },
  {
    name: "a policy that is bound to nothing judges nothing, and one whose binding goes ends",
    run: (context) =>
      withPolicy(
        context,
        {
          spec: { validations: [{ expression: "false" }] },
          bound: { matchResources: { namespaceSelector: { matchLabels: { none: "such" } } } },
        },
        async () => {
          await made(context.api.post(context.core("configmaps"), configMap("a")));
        },
      ),
  },
  {
    name: "a policy judges a Scale as such",
    run: (context) =>
      withPolicy(
        context,
        {
          spec: {
            matchConstraints: {
              resourceRules: [
                { apiGroups: ["apps"], apiVersions: ["*"], resources: ["deployments/scale"], operations: ["UPDATE"] },
              ],
            },
            validations: [
              { expression: "object.kind == 'Scale' && object.spec.replicas <= 3", message: "three at most" },
            ],
          },
        },
        async () => {
          const { api, apis } = context;
          const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
          const spec = { replicas: 1, selector: { matchLabels: { a: "b" } }, template };
          await made(
            api.post(apis("apps/v1", "deployments"), {
              apiVersion: "apps/v1",
              kind: "Deployment",
              metadata: { name: "d" },
              spec,
            }),
          );
          const scale = `${apis("apps/v1", "deployments", "d")}/scale`;
          refused(
            await api.patch(scale, "merge", { spec: { replicas: 4 } }),
            422,
            "Invalid",
            /^deployments\.apps "d" is forbidden: .*three at most$/,
          );
          expect(at(await done(api.patch(scale, "merge", { spec: { replicas: 3 } })), "spec", "replicas")).toBe(3);
        },
      ),
  },
];

export const policies: CaseGroup = { title: "admission policies", cases: [...judgements, ...rest] };
