import type { Row } from "./row.ts";
import { np, path } from "./shapes.ts";
import { COUNTED, LABEL, OPERATOR, PORT, QUALIFIED, SUBDOMAIN } from "./words.ts";

/** What is given, and why it is refused. */
export const networks: readonly Row[] = [
  [
    "network policy: selector",
    "NetworkPolicy",
    np({ podSelector: { matchExpressions: [{ key: "a", operator: "X" }] } }),
    [`spec.podSelector.matchExpressions[0].operator: Invalid value: "X": ${OPERATOR}`],
  ],
  [
    "network policy: end port",
    "NetworkPolicy",
    np({ ingress: [{ ports: [{ port: 5, endPort: 3 }] }] }),
    ["spec.ingress[0].ports[0].endPort: Invalid value: 5: must be greater than or equal to `port`"],
  ],
  [
    "network policy: end port alone",
    "NetworkPolicy",
    np({ ingress: [{ ports: [{ endPort: 3 }] }] }),
    ["spec.ingress[0].ports[0].endPort: Invalid value: 3: may not be specified when `port` is not specified"],
  ],
  [
    "network policy: end of a name",
    "NetworkPolicy",
    np({ ingress: [{ ports: [{ port: "a", endPort: 3 }] }] }),
    ["spec.ingress[0].ports[0].endPort: Invalid value: 3: may not be specified when `port` is non-numeric"],
  ],
  [
    "network policy: port name",
    "NetworkPolicy",
    np({ ingress: [{ ports: [{ port: "A_" }] }] }),
    [
      'spec.ingress[0].ports[0].port: Invalid value: "A_": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      'spec.ingress[0].ports[0].port: Invalid value: "A_": must contain at least one letter (a-z)',
    ],
  ],
  [
    "network policy: except",
    "NetworkPolicy",
    np({ ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["11.0.0.0/16"] } }] }] }),
    ['spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "11.0.0.0/16": must be a strict subset of `cidr`'],
  ],
  [
    "network policy: except bad",
    "NetworkPolicy",
    np({ ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["x"] } }] }] }),
    [
      'spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
    ],
  ],
  [
    "network policy: peers",
    "NetworkPolicy",
    np({ ingress: [{ from: [{ podSelector: {}, ipBlock: { cidr: "10.0.0.0/8" } }] }] }),
    ["spec.ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer"],
  ],
  [
    "network policy: types",
    "NetworkPolicy",
    np({ policyTypes: ["Ingress", "Egress", "Ingress"] }),
    ['spec.policyTypes: Invalid value: ["Ingress","Egress","Ingress"]: may not specify more than two policyTypes'],
  ],
  [
    "ingress: path",
    "Ingress",
    path({ path: "x" }),
    ['spec.rules[0].http.paths[0].path: Invalid value: "x": must be an absolute path'],
  ],
  [
    "ingress: path type",
    "Ingress",
    path({ pathType: "X" }),
    [
      'spec.rules[0].http.paths[0].pathType: Unsupported value: "X": supported values: "Exact", "ImplementationSpecific", "Prefix"',
    ],
  ],
  [
    "ingress: path steps",
    "Ingress",
    path({ path: "/a//b" }),
    ["spec.rules[0].http.paths[0].path: Invalid value: \"/a//b\": must not contain '//'"],
  ],
  [
    "ingress: backend nothing",
    "Ingress",
    path({ backend: {} }),
    ['spec.rules[0].http.paths[0].backend: Invalid value: "": resource or service backend is required'],
  ],
  [
    "ingress: service name",
    "Ingress",
    path({ backend: { service: { name: "A_", port: { number: 80 } } } }),
    [
      "spec.rules[0].http.paths[0].backend.service.name: Invalid value: \"A_\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [
    "ingress: no service name",
    "Ingress",
    path({ backend: { service: { port: { number: 80 } } } }),
    ["spec.rules[0].http.paths[0].backend.service.name: Required value"],
  ],
  [
    "ingress: no port",
    "Ingress",
    path({ backend: { service: { name: "s" } } }),
    ["spec.rules[0].http.paths[0].backend: Required value: port name or number is required"],
  ],
  [
    "ingress: both ports",
    "Ingress",
    path({ backend: { service: { name: "s", port: { number: 80, name: "a" } } } }),
    ['spec.rules[0].http.paths[0].backend: Invalid value: "": cannot set both port name & port number'],
  ],
  [
    "ingress: port",
    "Ingress",
    path({ backend: { service: { name: "s", port: { number: 70000 } } } }),
    [`spec.rules[0].http.paths[0].backend.service.port.number: Invalid value: 70000: ${PORT}`],
  ],
  [
    "ingress: port name",
    "Ingress",
    path({ backend: { service: { name: "s", port: { name: "A_" } } } }),
    [
      'spec.rules[0].http.paths[0].backend.service.port.name: Invalid value: "A_": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      'spec.rules[0].http.paths[0].backend.service.port.name: Invalid value: "A_": must contain at least one letter (a-z)',
    ],
  ],
  [
    "ingress: resource and service",
    "Ingress",
    path({ backend: { resource: { kind: "A", name: "a" }, service: { name: "s", port: { number: 80 } } } }),
    ['spec.rules[0].http.paths[0].backend: Invalid value: "": cannot set both resource and service backends'],
  ],
  [
    "ingress: host address",
    "Ingress",
    { spec: { rules: [{ host: "1.2.3.4" }] } },
    ['spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address'],
  ],
  [
    "ingress: wildcard",
    "Ingress",
    { spec: { rules: [{ host: "*.*.a" }] } },
    [
      "spec.rules[0].host: Invalid value: \"*.*.a\": a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "ingress: tls host",
    "Ingress",
    { spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } }, tls: [{ hosts: ["A_"] }] } },
    [`spec.tls[0].hosts[0]: Invalid value: "A_": ${SUBDOMAIN}`],
  ],
  [
    "ingress: class",
    "Ingress",
    { spec: { ingressClassName: "A_", defaultBackend: { service: { name: "s", port: { number: 80 } } } } },
    [`spec.ingressClassName: Invalid value: "A_": ${SUBDOMAIN}`],
  ],
  [
    "ingress class: parameters",
    "IngressClass",
    { spec: { controller: "a/b", parameters: { kind: "", name: "" } } },
    ["spec.parameters.kind: Required value", "spec.parameters.name: Required value"],
  ],
  [
    "ingress class: scope",
    "IngressClass",
    { spec: { controller: "a/b", parameters: { kind: "K", name: "n", scope: "X" } } },
    ['spec.parameters.scope: Unsupported value: "X": supported values: "Cluster", "Namespace"'],
  ],
  [
    "ingress class: namespace",
    "IngressClass",
    { spec: { controller: "a/b", parameters: { kind: "K", name: "n", scope: "Namespace" } } },
    ["spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"],
  ],
  [
    "ingress class: namespace of a cluster",
    "IngressClass",
    { spec: { controller: "a/b", parameters: { kind: "K", name: "n", scope: "Cluster", namespace: "x" } } },
    ["spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"],
  ],
  ["runtime class: no handler", "RuntimeClass", { handler: "" }, [`handler: Invalid value: "": ${LABEL}`]],
  [
    "runtime class: overhead",
    "RuntimeClass",
    { handler: "h", overhead: { podFixed: { cpu: "-1" } } },
    [`overhead.limits[cpu]: Invalid value: "-1": ${COUNTED}`],
  ],
  [
    "runtime class: scheduling",
    "RuntimeClass",
    { handler: "h", scheduling: { nodeSelector: { "a b": "c" }, tolerations: [{ key: "a", operator: "X" }] } },
    [
      `scheduling.nodeSelector: Invalid value: "a b": ${QUALIFIED}`,
      'scheduling.tolerations.tolerations[0].operator: Unsupported value: "X": supported values: "Equal", "Exists"',
    ],
  ],
];
