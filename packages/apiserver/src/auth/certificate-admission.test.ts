import { beforeAll, expect, test } from "vitest";
import { createRequest, hasCode } from "@causeway/foundation";
import type { Attempt } from "../contract/admission.ts";
import type { Json } from "../json/json.ts";
import type { Attributes } from "../contract/attributes.ts";
import { certificateAdmission } from "./certificate-admission.ts";

const CLIENT = "kubernetes.io/kube-apiserver-client";
const CSRS = "certificatesigningrequests";
const BUNDLES = "clustertrustbundles";
const requests: Record<string, string> = {};

beforeAll(async () => {
  for (const organization of ["system:masters", "dev"]) {
    const { request } = await createRequest({ commonName: "jane", organizations: ["a", organization] });
    requests[organization] = Buffer.from(request).toString("base64");
  }
});

interface Row {
  readonly plural?: string;
  readonly subresource?: string;
  readonly operation?: string;
  readonly object?: Json | null;
  readonly old?: Json | null;
  /** "verb name" of signers that the user may. */
  readonly may?: readonly string[];
}

function attemptOf({ plural = CSRS, subresource = "", operation = "UPDATE", object, old, may = [] }: Row): Attempt {
  const allows = ({ verb, name, group, version, plural: what }: Attributes): boolean =>
    may.includes(`${verb} ${name}`) && `${group}/${version}/${what}` === "certificates.k8s.io/*/signers";
  const resource = { group: "certificates.k8s.io", plural };
  const call = {
    resource,
    subresource,
    name: "x",
    user: { name: "jane", groups: [] },
    cluster: { access: { allows } },
  };
  const whole = (given: Json | null | undefined) => given && { metadata: { name: "x" }, ...given };
  return { call, operation, object: whole(object), old: whole(old) } as unknown as Attempt;
}

const signer = (signerName: string, status: Json = {}): Json => ({ spec: { signerName }, status });

const ROWS: readonly (readonly [string, Row, string | undefined])[] = [
  [
    "an approval by who may approve for the signer",
    { subresource: "approval", object: signer("a.b/c"), old: signer("a.b/c"), may: ["approve a.b/c"] },
    undefined,
  ],
  [
    "an approval by who may approve for the domain",
    { subresource: "approval", object: signer("a.b/c"), old: signer("a.b/c"), may: ["approve a.b/*"] },
    undefined,
  ],
  [
    "an approval by who may sign only",
    { subresource: "approval", object: signer("a.b/c"), old: signer("a.b/c"), may: ["sign a.b/c"] },
    'user not permitted to approve requests with signerName "a.b/c"',
  ],
  [
    "an approval by who may approve for the signer that the update names",
    { subresource: "approval", object: signer("a.b/d"), old: signer("a.b/c"), may: ["approve a.b/d"] },
    'user not permitted to approve requests with signerName "a.b/c"',
  ],
  [
    "an approval by who may approve for another domain",
    { subresource: "approval", object: signer("a.b/c"), old: signer("a.b/c"), may: ["approve a/*"] },
    'user not permitted to approve requests with signerName "a.b/c"',
  ],
  [
    "a certificate by who may sign",
    { subresource: "status", object: signer("a.b/c", { certificate: "x" }), old: signer("a.b/c"), may: ["sign a.b/c"] },
    undefined,
  ],
  [
    "a certificate by who may sign for the domain",
    { subresource: "status", object: signer("a.b/c", { certificate: "x" }), old: signer("a.b/c"), may: ["sign a.b/*"] },
    undefined,
  ],
  [
    "a certificate by who may approve only",
    {
      subresource: "status",
      object: signer("a.b/c", { certificate: "x" }),
      old: signer("a.b/c"),
      may: ["approve a.b/c"],
    },
    'user not permitted to sign requests with signerName "a.b/c"',
  ],
  [
    "conditions by who may not sign",
    { subresource: "status", object: signer("a.b/c", { conditions: [{}] }), old: signer("a.b/c") },
    'user not permitted to sign requests with signerName "a.b/c"',
  ],
  [
    "a status that is as it was",
    {
      subresource: "status",
      object: signer("a.b/c", { certificate: "x", other: 1 }),
      old: signer("a.b/c", { certificate: "x" }),
    },
    undefined,
  ],
  [
    "an update of the request itself",
    { object: signer("a.b/c", { certificate: "x" }), old: signer("a.b/c") },
    undefined,
  ],
  [
    "trust for a signer by who may attest",
    { plural: BUNDLES, operation: "CREATE", object: signer("a.b/c"), may: ["attest a.b/c"] },
    undefined,
  ],
  [
    "trust for a signer by who may attest for the domain",
    { plural: BUNDLES, operation: "CREATE", object: signer("a.b/c"), may: ["attest a.b/*"] },
    undefined,
  ],
  [
    "trust for a signer by another",
    { plural: BUNDLES, operation: "CREATE", object: signer("a.b/c"), may: ["sign a.b/c"] },
    'user not permitted to attest for signerName "a.b/c"',
  ],
  ["trust for no signer", { plural: BUNDLES, operation: "CREATE", object: signer("") }, undefined],
  ["an update of trust for no signer", { plural: BUNDLES, object: signer(""), old: signer("") }, undefined],
  [
    "an update that takes the signer away",
    { plural: BUNDLES, object: signer(""), old: signer("a.b/c") },
    'user not permitted to attest for signerName ""',
  ],
  [
    "an update that names a signer",
    { plural: BUNDLES, object: signer("a.b/c"), old: signer("") },
    'user not permitted to attest for signerName "a.b/c"',
  ],
];

async function refusalOf(row: Row): Promise<string | undefined> {
  try {
    await certificateAdmission.validate?.(attemptOf(row));
    return undefined;
  } catch (error) {
    expect(hasCode(error, "KUBERNETES_FORBIDDEN")).toBe(true);
    return String((error as Error).message);
  }
}

test.each(ROWS)("the admission of certificate requests allows or refuses %s", async (_what, row, why) => {
  const message = await refusalOf(row);
  expect(message).toBe(
    why === undefined ? undefined : `${row.plural ?? CSRS}.certificates.k8s.io "x" is forbidden: ${why}`,
  );
});

test.each<[string, string, string, boolean]>([
  [CLIENT, "system:masters", "", true],
  [CLIENT, "dev", "", false],
  ["kubernetes.io/legacy-unknown", "system:masters", "", false],
  [CLIENT, "system:masters", "approval", false],
])("a request to %s in %s at %j is refused: %s", async (signerName, organization, subresource, refused) => {
  const object = { spec: { signerName, request: requests[organization] } };
  const message = await refusalOf({ operation: "CREATE", subresource, object });
  const why = `${CSRS}.certificates.k8s.io "x" is forbidden: use of ${CLIENT} signer with system:masters group is not allowed`;
  expect(message).toBe(refused ? why : undefined);
});

test("a request that cannot be read is for others to refuse", async () => {
  expect(
    await refusalOf({ operation: "CREATE", object: { spec: { signerName: CLIENT, request: "x" } } }),
  ).toBeUndefined();
});

test.each<[string, string, string, string, boolean]>([
  ["certificates.k8s.io", CSRS, "CREATE", "validate", true],
  ["certificates.k8s.io", BUNDLES, "UPDATE", "validate", true],
  ["certificates.k8s.io", CSRS, "DELETE", "validate", false],
  ["certificates.k8s.io", CSRS, "CREATE", "mutate", false],
  ["certificates.k8s.io", "others", "CREATE", "validate", false],
  ["other.example", CSRS, "CREATE", "validate", false],
])(
  "the admission of certificate requests checks %s/%s, %s in phase %s: %s",
  (group, plural, operation, phase, concerned) => {
    const call = { resource: { group, plural } };
    type Concerns = (call: unknown, operation: string, phase: string) => boolean;
    expect((certificateAdmission.concerns as unknown as Concerns)(call, operation, phase)).toBe(concerned);
  },
);
