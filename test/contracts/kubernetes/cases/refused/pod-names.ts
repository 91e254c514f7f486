import type { PodRow } from "./row.ts";
import { LABEL, QUALIFIED, SUBDOMAIN, VALUE } from "./words.ts";

/** What is given, and why it is refused. */
export const podNames: readonly PodRow[] = [
  [
    "dns: policy",
    { dnsPolicy: "X" },
    [
      'spec.dnsPolicy: Unsupported value: "X": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
    ],
  ],
  [
    "dns: none",
    { dnsPolicy: "None" },
    ["spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"],
  ],
  [
    "dns: servers",
    { dnsConfig: { nameservers: ["1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4"] } },
    [
      'spec.dnsConfig.nameservers: Invalid value: ["1.1.1.1","1.1.1.2","1.1.1.3","1.1.1.4"]: must not have more than 3 nameservers',
    ],
  ],
  [
    "dns: server",
    { dnsConfig: { nameservers: ["x"] } },
    [
      'spec.dnsConfig.nameservers[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
  ],
  [
    "dns: search",
    { dnsConfig: { searches: ["A b"] } },
    [
      "spec.dnsConfig.searches[0]: Invalid value: \"A b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "dns: option",
    { dnsConfig: { options: [{ value: "x" }] } },
    ["spec.dnsConfig.options[0]: Required value: must not be empty"],
  ],
  [
    "dns: alias",
    { hostAliases: [{ ip: "x", hostnames: ["A_"] }] },
    [
      'spec.hostAliases[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      `spec.hostAliases[0].hostnames[0]: Invalid value: "A_": ${SUBDOMAIN}`,
    ],
  ],
  ["names: host", { hostname: "A_" }, [`spec.hostname: Invalid value: "A_": ${LABEL}`]],
  ["names: subdomain", { subdomain: "a.b" }, ['spec.subdomain: Invalid value: "a.b": must not contain dots']],
  ["names: node", { nodeName: "A_" }, [`spec.nodeName: Invalid value: "A_": ${SUBDOMAIN}`]],
  [
    "names: node selector",
    { nodeSelector: { "a b": "c d" } },
    [`spec.nodeSelector: Invalid value: "a b": ${QUALIFIED}`, `spec.nodeSelector: Invalid value: "c d": ${VALUE}`],
  ],
  [
    "deadline: 0",
    { activeDeadlineSeconds: 0 },
    ["spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"],
  ],
  [
    "deadline: negative",
    { activeDeadlineSeconds: -1 },
    ["spec.activeDeadlineSeconds: Invalid value: -1: must be between 1 and 2147483647, inclusive"],
  ],
  [
    "ephemeral containers at first",
    { ephemeralContainers: [{ name: "d", image: "i" }] },
    ["spec.ephemeralContainers: Forbidden: cannot be set on create"],
  ],
  [
    "claims: name",
    { resourceClaims: [{ name: "A_" }] },
    [
      `spec.resourceClaims[0].name: Invalid value: "A_": ${LABEL}`,
      'spec.resourceClaims[0]: Invalid value: {"Name":"A_","ResourceClaimName":null,"ResourceClaimTemplateName":null}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
    ],
  ],
  [
    "claims: twice",
    {
      resourceClaims: [
        { name: "a", resourceClaimName: "x" },
        { name: "a", resourceClaimName: "x" },
      ],
    },
    ['spec.resourceClaims[1].name: Duplicate value: "a"'],
  ],
  [
    "preemption",
    { preemptionPolicy: "X" },
    [
      '403 pods "p" is forbidden: the string value of PreemptionPolicy (X) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name',
    ],
  ],
];
