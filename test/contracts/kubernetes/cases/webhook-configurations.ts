import { expect } from "vitest";
import type { CaseGroup, ContractCase, Json } from "../interface.ts";
import { at, invalid, made } from "./shorthands.ts";
import { configuration, CONFIGURATIONS, hook, MAPS, pluralOf, type Side } from "./webhook-words.ts";

const SIDES: readonly Side[] = ["mutating", "validating"];

/** Configurations that are not accepted. */
const MALFORMED: readonly [string, Json, ...string[]][] = [
  [
    "a name of two segments",
    { name: "a.b" },
    'webhooks[0].name: Invalid value: "a.b": should be a domain with at least three segments separated by dots',
  ],
  [
    "no sideEffects",
    { sideEffects: undefined },
    "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun",
  ],
  [
    "side effects",
    { sideEffects: "Some" },
    'webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"',
  ],
  [
    "no review versions",
    { admissionReviewVersions: [] },
    "webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1",
  ],
  [
    "review versions of the future",
    { admissionReviewVersions: ["v7"] },
    'webhooks[0].admissionReviewVersions: Invalid value: ["v7"]: must include at least one of v1, v1beta1',
  ],
  [
    "a timeout of a minute",
    { timeoutSeconds: 60 },
    "webhooks[0].timeoutSeconds: Invalid value: 60: the timeout value must be between 1 and 30 seconds",
  ],
  [
    "no place",
    { clientConfig: {} },
    "webhooks[0].clientConfig: Required value: exactly one of url or service is required",
  ],
  [
    "a plain URL",
    { clientConfig: { url: "http://x/y?z=1#f" } },
    `webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
    'webhooks[0].clientConfig.url: Invalid value: "f": fragments are not permitted in the URL',
    'webhooks[0].clientConfig.url: Invalid value: "z=1": query parameters are not permitted in the URL',
  ],
  [
    "a Service of no name",
    { clientConfig: { service: { namespace: "a", name: "", path: "x//y", port: 0 } } },
    "webhooks[0].clientConfig.service.namespace: Required value",
    "webhooks[0].clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive",
    `webhooks[0].clientConfig.service.path: Invalid value: "x//y": must start with a '/'`,
    'webhooks[0].clientConfig.service.path: Invalid value: "x//y": segment[0] may not be empty',
    'webhooks[0].clientConfig.service.path: Invalid value: "x//y": segment[1] may not be empty',
  ],
  [
    "a rule without anything",
    { rules: [{}] },
    "webhooks[0].rules[0].operations: Required value",
    "webhooks[0].rules[0].apiGroups: Required value",
    "webhooks[0].rules[0].apiVersions: Required value",
    "webhooks[0].rules[0].resources: Required value",
  ],
  [
    "a rule of too much",
    {
      rules: [
        { operations: ["*", "CREATE"], apiGroups: ["*", "a"], apiVersions: ["*", "v1"], resources: ["*/*", "a"] },
      ],
    },
    `webhooks[0].rules[0].operations: Invalid value: ["*","CREATE"]: if '*' is present, must not specify other operations`,
    `webhooks[0].rules[0].apiGroups: Invalid value: ["*","a"]: if '*' is present, must not specify other API groups`,
    `webhooks[0].rules[0].apiVersions: Invalid value: ["*","v1"]: if '*' is present, must not specify other API versions`,
    `webhooks[0].rules[0].resources: Invalid value: ["*/*","a"]: if '*/*' is present, must not specify other resources`,
  ],
  [
    "an unknown operation",
    { rules: [{ ...MAPS, operations: ["PUT"] }] },
    'webhooks[0].rules[0].operations[0]: Unsupported value: "PUT": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
  ],
  [
    "unheard-of policies",
    { failurePolicy: "Maybe", matchPolicy: "Like" },
    'webhooks[0].failurePolicy: Unsupported value: "Maybe": supported values: "Fail", "Ignore"',
    'webhooks[0].matchPolicy: Unsupported value: "Like": supported values: "Equivalent", "Exact"',
  ],
  [
    "a selector without values",
    { objectSelector: { matchExpressions: [{ key: "a", operator: "In" }] } },
    "webhooks[0].objectSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
  ],
  [
    "conditions of one name",
    {
      matchConditions: [
        { name: "a", expression: "true" },
        { name: "a", expression: "true" },
      ],
    },
    'webhooks[0].matchConditions[1].name: Duplicate value: "a"',
  ],
  [
    "a condition that is none",
    { matchConditions: [{ name: "a", expression: "foo == 1" }] },
    `webhooks[0].matchConditions[0].expression: Invalid value: "foo == 1": compilation failed: ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')\n | foo == 1\n | ^`,
  ],
  [
    "a condition of another type",
    { matchConditions: [{ name: "a", expression: "1" }] },
    'webhooks[0].matchConditions[0].expression: Invalid value: "1": must evaluate to bool but got int',
  ],
  [
    "a condition of any type",
    { matchConditions: [{ name: "a", expression: "object.data" }] },
    'webhooks[0].matchConditions[0].expression: Invalid value: "object.data": must evaluate to bool but got dyn',
  ],
];

const configurations: ContractCase[] = [
  ...SIDES.map((side): ContractCase => ({
    name: `a ${side} configuration is filled in`,
    async run({ api, unique }) {
      const path = `${CONFIGURATIONS}/${pluralOf(side)}`;
      const name = unique("filled");
      const service = { namespace: "a", name: "b" };
      const body = await made(
        api.post(
          path,
          configuration(side, name, [hook({ service }, { rules: [{ ...MAPS, resources: ["nothings"] }] })]),
        ),
      );
      await api.delete(`${path}/${name}`);
      expect(at(body, "metadata", "generation")).toBe(1);
      expect(body["webhooks"]).toEqual([
        {
          name: "hook.example.com",
          clientConfig: { service: { namespace: "a", name: "b", port: 443 } },
          rules: [{ ...MAPS, resources: ["nothings"], scope: "*" }],
          failurePolicy: "Fail",
          matchPolicy: "Equivalent",
          namespaceSelector: {},
          objectSelector: {},
          sideEffects: "None",
          timeoutSeconds: 10,
          admissionReviewVersions: ["v1"],
          ...(side === "mutating" ? { reinvocationPolicy: "Never" } : {}),
        },
      ]);
    },
  })),
  ...MALFORMED.map(([what, more, ...causes]): ContractCase => ({
    name: `a configuration with ${what} is refused`,
    async run({ api, unique }) {
      const webhook = hook({ url: "https://127.0.0.1/x" }, more);
      const answer = await api.post(
        `${CONFIGURATIONS}/${pluralOf("validating")}`,
        configuration("validating", unique("bad"), [webhook]),
      );
      invalid(answer, ...causes);
    },
  })),
  {
    name: "two webhooks of one name are refused",
    async run({ api, unique }) {
      const webhook = hook({ url: "https://127.0.0.1/x" });
      const answer = await api.post(
        `${CONFIGURATIONS}/${pluralOf("mutating")}`,
        configuration("mutating", unique("bad"), [webhook, webhook]),
      );
      invalid(answer, 'webhooks[1].name: Duplicate value: "hook.example.com"');
    },
  },
];

export const webhookConfigurations: CaseGroup = { title: "admission webhook configurations", cases: configurations };
