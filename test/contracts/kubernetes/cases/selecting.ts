import { expect } from "vitest";
import type { Answer, CaseGroup, Context, ContractCase, Json } from "../interface.ts";
import { configMap, made, names, refused } from "./shorthands.ts";

/** Labels of four ConfigMaps. */
const LABELS: Readonly<Record<string, Json>> = {
  a: { x: "1", y: "b" },
  b: { x: "2" },
  c: { "example.com/z": "in" },
  e: { x: "" },
};

/** [label selector, the names it selects or why it is refused] */
const BY_LABEL: readonly (readonly [selector: string, result: string])[] = [
  ["x", "a,b,e"],
  ["!x", "c"],
  ["x=1", "a"],
  ["x==1", "a"],
  ["x!=1", "b,c,e"],
  ["x in (1,2)", "a,b"],
  ["x in (1, 2)", "a,b"],
  ["x notin (1)", "b,c,e"],
  ["x in ()", "e"],
  ["x notin ()", "a,b,c"],
  ["x in (,)", "e"],
  ["x in (1,)", "a,e"],
  ["x in (,,1)", "a,e"],
  ["x>1", "b"],
  ["x<1", ""],
  [
    "x > -6",
    "unable to parse requirement: values[0][x]: Invalid value: \"-6\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  ],
  ["x gt 1", "unable to parse requirement: found 'gt', expected: in, notin, =, ==, !=, gt, lt"],
  ["x=", "e"],
  ["x!=", "a,b,c"],
  ["x==", "e"],
  ["x,y", "a"],
  ["x,!y", "b,e"],
  [",", "found ',', expected: !, identifier, or 'end of string'"],
  ["x,", "found '', expected: identifier after ','"],
  [",x", "found ',', expected: !, identifier, or 'end of string'"],
  ["x,,y", "found ',', expected: identifier after ','"],
  ["x y", "unable to parse requirement: found 'y', expected: in, notin, =, ==, !=, gt, lt"],
  ["x in 1", "unable to parse requirement: found '1' expected: '('"],
  ["x in (1", "unable to parse requirement: found '', expected: ',' or ')'"],
  ["x in (1 2)", "unable to parse requirement: found '2', expected: ',' or ')'"],
  ["x in 1)", "unable to parse requirement: found '1' expected: '('"],
  ["!", "unable to parse requirement: found '', expected: identifier"],
  ["!!x", "unable to parse requirement: found '!', expected: identifier"],
  ["! x", "c"],
  ["x=1=2", "found '=', expected: ',' or 'end of string'"],
  ["x===1", "unable to parse requirement: found '=', expected: identifier"],
  ["x=!1", "unable to parse requirement: found '!', expected: identifier"],
  ["=1", "found '=', expected: !, identifier, or 'end of string'"],
  ["(x)", "found '(', expected: !, identifier, or 'end of string'"],
  ["x in (1),y in (b)", "a"],
  ["in in (notin)", ""],
  ["in=notin", ""],
  ["notin", ""],
  ["x in (in,notin)", ""],
  ["example.com/z=in", "c"],
  [
    "a/b/c=1",
    "unable to parse requirement: <nil>: Invalid value: \"a/b/c\": a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
  ],
  [
    "x$=1",
    "unable to parse requirement: <nil>: Invalid value: \"x$\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  ],
  ["x=a b", "found 'b', expected: ',' or 'end of string'"],
  [
    "x=$",
    "unable to parse requirement: values[0][x]: Invalid value: \"$\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  ],
  [
    "x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    'unable to parse requirement: values[0][x]: Invalid value: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": must be no more than 63 characters',
  ],
  [
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    'unable to parse requirement: <nil>: Invalid value: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": name part must be no more than 63 characters',
  ],
  [
    "-x",
    "unable to parse requirement: <nil>: Invalid value: \"-x\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  ],
  [
    "x>a",
    "unable to parse requirement: values[0]: Invalid value: \"a\": for 'Gt', 'Lt' operators, the value must be an integer",
  ],
  [
    "x>",
    "unable to parse requirement: values[0]: Invalid value: \"\": for 'Gt', 'Lt' operators, the value must be an integer",
  ],
  [
    "x>1.5",
    "unable to parse requirement: values[0]: Invalid value: \"1.5\": for 'Gt', 'Lt' operators, the value must be an integer",
  ],
  [
    "x in (a$)",
    "unable to parse requirement: values[0][x]: Invalid value: \"a$\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  ],
  [" x = 1 ", "a"],
  ["x\n=1", "a"],
  ["x <1", ""],
  ["!x=1", "found '=', expected: ',' or 'end of string'"],
  ["!x in (1)", "found 'in', expected: ',' or 'end of string'"],
  ["x notin (a,b),x", "a,b,e"],
  ["x!==1", "unable to parse requirement: found '=', expected: identifier"],
  ["x!1", "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt"],
  ["X=1", ""],
  [
    "é=1",
    "unable to parse requirement: <nil>: Invalid value: \"é\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  ],
  [
    "x=é",
    "unable to parse requirement: values[0][x]: Invalid value: \"é\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  ],
  ["/x", 'unable to parse requirement: <nil>: Invalid value: "/x": prefix part must be non-empty'],
  [
    "x/",
    "unable to parse requirement: <nil>: Invalid value: \"x/\": name part must be non-empty; name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  ],
  [
    "UP.example.com/x",
    "unable to parse requirement: <nil>: Invalid value: \"UP.example.com/x\": prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  ],
  [
    ".x",
    "unable to parse requirement: <nil>: Invalid value: \".x\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  ],
  ["x in(1)", "a"],
  ["x in (1)y", "found 'y', expected: ',' or 'end of string'"],
];

/** [field selector, the names it selects or why it is refused] */
const BY_FIELD: readonly (readonly [selector: string, result: string])[] = [
  ["metadata.name=a", "a"],
  ["metadata.name==a", "a"],
  ["metadata.name!=a", "b,c,e"],
  ["metadata.name=a,metadata.name=b", ""],
  ["metadata.name=", ""],
  ["metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
  ["=a", '"" is not a known field selector: only "metadata.name", "metadata.namespace"'],
  ["metadata.name=a=b", "invalid field selector: unescaped character in value: 61"],
  ["metadata.name=a\\=b", ""],
  ["metadata.name=a\\,b", ""],
  ["metadata.name=a\\x", "invalid field selector: invalid escape sequence: \\x"],
  ["metadata.name=a\\", "invalid field selector: invalid escape sequence: \\"],
  [",", "a,b,c,e"],
  ["metadata.name=a,", "a"],
  ["foo=bar", '"foo" is not a known field selector: only "metadata.name", "metadata.namespace"'],
  ["data.a=b", '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"'],
  [" metadata.name=a", '" metadata.name" is not a known field selector: only "metadata.name", "metadata.namespace"'],
  ["metadata.name= a", ""],
  ["metadata.name!==a", "invalid field selector: unescaped character in value: 61"],
  ["metadata.name=!a", ""],
  ["metadata.uid=x", '"metadata.uid" is not a known field selector: only "metadata.name", "metadata.namespace"'],
];

/** [path, field selector, why it is refused or ""] */
const OF_KIND: readonly (readonly [path: string, selector: string, refusal: string])[] = [
  ["/api/v1/pods", "spec.nodeName=x", ""],
  ["/api/v1/pods", "status.phase=Running", ""],
  ["/api/v1/pods", "spec.restartPolicy=Always", ""],
  ["/api/v1/pods", "spec.hostNetwork=true", ""],
  ["/api/v1/pods", "status.podIP=1", ""],
  ["/api/v1/pods", "status.podIPs=1", ""],
  ["/api/v1/pods", "spec.x=1", "field label not supported: spec.x"],
  ["/api/v1/pods", "spec.serviceAccountName=a", ""],
  ["/api/v1/pods", "spec.schedulerName=x", ""],
  ["/api/v1/pods", "status.nominatedNodeName=x", ""],
  ["/api/v1/nodes", "spec.unschedulable=true", ""],
  ["/api/v1/nodes", "spec.unschedulable=false", ""],
  ["/api/v1/nodes", "spec.x=1", "field label not supported: spec.x"],
  ["/api/v1/nodes", "metadata.namespace=x", "field label not supported: metadata.namespace"],
  ["/api/v1/namespaces", "status.phase=Active", ""],
  ["/api/v1/namespaces", "name=default", "field label not supported: name"],
  ["/api/v1/namespaces", "metadata.name=default", ""],
  ["/api/v1/secrets", "type=Opaque", ""],
  ["/api/v1/secrets", "x=y", "field label not supported: x"],
  ["/api/v1/services", "spec.clusterIP=None", ""],
  ["/api/v1/services", "spec.type=ClusterIP", ""],
  ["/api/v1/services", "spec.x=y", "field label not supported: spec.x"],
  ["/api/v1/events", "involvedObject.kind=Pod", ""],
  ["/api/v1/events", "reason=x", ""],
  ["/api/v1/events", "source=x", ""],
  ["/api/v1/events", "type=Normal", ""],
  ["/api/v1/events", "reportingComponent=x", ""],
  ["/api/v1/events", "x=y", "field label not supported: x"],
  ["/apis/events.k8s.io/v1/events", "regarding.kind=Pod", ""],
  ["/apis/events.k8s.io/v1/events", "reportingController=x", ""],
  ["/apis/events.k8s.io/v1/events", "involvedObject.kind=x", "field label not supported: involvedObject.kind"],
  ["/apis/events.k8s.io/v1/events", "reason=x", ""],
  ["/apis/events.k8s.io/v1/events", "type=x", ""],
  ["/apis/apps/v1/deployments", "metadata.name=x", ""],
  [
    "/apis/apps/v1/deployments",
    "status.replicas=1",
    '"status.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"',
  ],
  [
    "/apis/apps/v1/replicasets",
    "status.replicas=1",
    '"status.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"',
  ],
  ["/apis/apps/v1/replicasets", "x=y", '"x" is not a known field selector: only "metadata.name", "metadata.namespace"'],
  ["/api/v1/replicationcontrollers", "status.replicas=1", ""],
  ["/api/v1/replicationcontrollers", "x=1", "field label not supported: x"],
  ["/apis/batch/v1/jobs", "status.successful=1", ""],
  ["/apis/batch/v1/jobs", "x=y", 'field label "x" not supported for Job'],
  ["/apis/certificates.k8s.io/v1/certificatesigningrequests", "spec.signerName=x", ""],
  ["/apis/certificates.k8s.io/v1/certificatesigningrequests", "x=y", "field label not supported: x"],
  ["/apis/resource.k8s.io/v1/resourceslices", "spec.nodeName=x", ""],
  ["/apis/resource.k8s.io/v1/resourceslices", "spec.driver=x", ""],
  [
    "/apis/resource.k8s.io/v1/resourceslices",
    "x=y",
    "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: x",
  ],
  ["/apis/storage.k8s.io/v1/storageclasses", "metadata.name=x", ""],
  ["/apis/storage.k8s.io/v1/storageclasses", "metadata.namespace=x", ""],
  [
    "/apis/storage.k8s.io/v1/storageclasses",
    "provisioner=x",
    '"provisioner" is not a known field selector: only "metadata.name", "metadata.namespace"',
  ],
  ["/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "metadata.name=x", ""],
  [
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "spec.group=x",
    '"spec.group" is not a known field selector: only "metadata.name", "metadata.namespace"',
  ],
  ["/apis/rbac.authorization.k8s.io/v1/clusterroles", "metadata.name=x", ""],
  [
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "x=y",
    '"x" is not a known field selector: only "metadata.name", "metadata.namespace"',
  ],
  ["/apis/coordination.k8s.io/v1/leases", "metadata.namespace=x", ""],
  [
    "/apis/coordination.k8s.io/v1/leases",
    "x=y",
    '"x" is not a known field selector: only "metadata.name", "metadata.namespace"',
  ],
  ["/api/v1/persistentvolumes", "metadata.name=x", ""],
  [
    "/api/v1/persistentvolumes",
    "name=x",
    '"name" is not a known field selector: only "metadata.name", "metadata.namespace"',
  ],
  [
    "/api/v1/persistentvolumes",
    "spec.x=y",
    '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
  ],
  [
    "/api/v1/persistentvolumeclaims",
    "name=x",
    '"name" is not a known field selector: only "metadata.name", "metadata.namespace"',
  ],
  [
    "/api/v1/persistentvolumeclaims",
    "x=y",
    '"x" is not a known field selector: only "metadata.name", "metadata.namespace"',
  ],
];

async function fill({ api, core }: Context): Promise<void> {
  for (const [name, labels] of Object.entries(LABELS)) {
    await made(api.post(core("configmaps"), configMap(name, { metadata: { labels } })));
  }
}

function selected(answer: Answer, result: string): void {
  if (result !== "" && !/^[a-e](,[a-e])*$/.test(result)) return refused(answer, 400, "BadRequest", result);
  // Others may be there from the start.
  const found = names(answer).filter((name) => Object.hasOwn(LABELS, String(name)));
  expect(found.join(",")).toBe(result);
}

function caseOf(
  parameter: "labelSelector" | "fieldSelector",
  [selector, result]: (typeof BY_LABEL)[number],
): ContractCase {
  return {
    name: `a list of ConfigMaps by ${parameter} ${JSON.stringify(selector.slice(0, 70))}`,
    async run(c) {
      await fill(c);
      selected(await c.api.get(`${c.core("configmaps")}?${parameter}=${encodeURIComponent(selector)}`), result);
    },
  };
}

export const selectors: CaseGroup = {
  title: "selectors",
  cases: [
    ...BY_LABEL.map((row) => caseOf("labelSelector", row)),
    ...BY_FIELD.map((row) => caseOf("fieldSelector", row)),
    ...OF_KIND.map(([path, selector, refusal]): ContractCase => ({
      name: `field selector ${selector} of ${path} is ${refusal === "" ? "accepted" : "refused"}`,
      async run({ api }) {
        const answer = await api.get(`${path}?fieldSelector=${encodeURIComponent(selector)}`);
        if (refusal !== "") refused(answer, 400, "BadRequest", refusal);
        else expect(answer.code).toBe(200);
      },
    })),
  ],
};
