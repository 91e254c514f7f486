import type { Clock } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";

/** Who may read a path: "unknown" is a token that the cluster does not know. */
export type Guard = (asked: {
  readonly path: string;
  readonly authorization: string | undefined;
}) => Promise<"allowed" | "forbidden" | "unknown">;

type Json = Readonly<Record<string, unknown>>;

/** A verdict holds this long (ms), as for every delegated authorization of Kubernetes. */
const remembered = 10_000;
const most = 100;

/** Asks the cluster whose token it is (TokenReview) and whether its user may GET the path (SubjectAccessReview). */
export function clusterGuard(client: KubernetesClient, clock: Clock): Guard {
  const verdicts = new Map<string, { readonly until: number; readonly verdict: ReturnType<Guard> }>();
  return ({ path, authorization }) => {
    const token = /^Bearer (\S+)$/i.exec(authorization ?? "")?.[1];
    if (token === undefined) return Promise.resolve("unknown");
    const key = `${path}\n${token}`;
    const known = verdicts.get(key);
    if (known && clock.now() < known.until) return known.verdict;
    const verdict = judge(client, path, token);
    if (verdicts.size >= most) verdicts.clear();
    verdicts.set(key, { until: clock.now() + remembered, verdict });
    verdict.catch(() => verdicts.delete(key));
    return verdict;
  };
}

async function judge(client: KubernetesClient, path: string, token: string): ReturnType<Guard> {
  const reviewed = await review(client, "/apis/authentication.k8s.io/v1/tokenreviews", {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenReview",
    spec: { token },
  });
  if (reviewed["authenticated"] !== true) return "unknown";
  const user = record(reviewed["user"]);
  const access = await review(client, "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    spec: {
      user: user["username"],
      uid: user["uid"],
      groups: user["groups"],
      extra: user["extra"],
      nonResourceAttributes: { path, verb: "get" },
    },
  });
  return access["allowed"] === true ? "allowed" : "forbidden";
}

async function review(client: KubernetesClient, path: string, body: Json): Promise<Json> {
  return record(record(await client.request("POST", path, { body }))["status"]);
}

function record(value: unknown): Json {
  return typeof value === "object" && value !== null ? (value as Json) : {};
}
