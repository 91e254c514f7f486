import { expect, test } from "vitest";
import { tokenReviewer, type TokenRules } from "./review-token.ts";
import { tokenExpiry } from "./token-expiry.ts";

const rules: TokenRules = {
  namespace: "kube-system",
  serviceAccount: "konnectivity-agent",
  audience: "system:konnectivity-server",
};
const user = (username: string, more: object = {}): object => ({
  status: { authenticated: true, user: { username }, audiences: ["system:konnectivity-server"], ...more },
});

const rows: [title: string, review: object, refusal: RegExp | undefined][] = [
  [
    "of the agent's service account is accepted",
    user("system:serviceaccount:kube-system:konnectivity-agent"),
    undefined,
  ],
  ["that the API server does not know is refused", { status: {} }, /does not know the token/],
  [
    "of another service account is refused",
    user("system:serviceaccount:kube-system:default"),
    /is not konnectivity-agent/,
  ],
  [
    "of another namespace is refused",
    user("system:serviceaccount:default:konnectivity-agent"),
    /not in namespace kube-system/,
  ],
  ["of a person is refused", user("admin"), /no service account's/],
  [
    "for another audience is refused",
    user("system:serviceaccount:kube-system:konnectivity-agent", { audiences: ["https://kubernetes"] }),
    /not for audience/,
  ],
  [
    "without an audience in the answer is refused",
    user("system:serviceaccount:kube-system:konnectivity-agent", { audiences: undefined }),
    /not for audience/,
  ],
];
test.each(rows)("a token %s", async (_title, review, refusal) => {
  const asked: unknown[] = [];
  const client = {
    request: (_method: string, _path: string, options?: { body?: unknown }) => {
      asked.push(options?.body);
      return Promise.resolve(review);
    },
  };
  const found = await tokenReviewer(client, rules)("secret", new AbortController().signal);
  expect(asked).toMatchObject([{ kind: "TokenReview", spec: { token: "secret", audiences: [rules.audience] } }]);
  if (refusal) expect(found).toMatch(refusal);
  else expect(found).toBeUndefined();
});

test("a review that fails refuses the agent and says why", async () => {
  const client = { request: () => Promise.reject(new Error("connection refused")) };
  expect(await tokenReviewer(client, rules)("secret", new AbortController().signal)).toMatch(
    /cannot be reviewed: connection refused/,
  );
});

const jwt = (claims: string): string => `header.${Buffer.from(claims).toString("base64url")}.signature`;
test.each([
  ["of a service account says when it expires", jwt('{"exp":1700000000,"sub":"x"}'), 1_700_000_000_000],
  ["without exp does not", jwt('{"sub":"x"}'), undefined],
  ["whose exp is a text does not", jwt('{"exp":"1700000000"}'), undefined],
  ["whose claims are null does not", jwt("null"), undefined],
  ["whose claims are no JSON does not", jwt("{"), undefined],
  ["that is no JWT does not", "abcdef.0123456789abcdef", undefined],
  ["with four parts does not", `${jwt('{"exp":1700000000}')}.more`, undefined],
])("a token %s", (_title, token, expires) => {
  expect(tokenExpiry(token)).toBe(expires);
});
