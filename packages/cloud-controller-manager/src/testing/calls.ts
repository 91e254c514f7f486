/** A call as a simulated cloud logs it. */
interface Call {
  readonly method: string;
  readonly path: string;
}

const id = /[0-9a-f]{8}-[0-9a-f-]{27}/g;

/** "PUT /pools/ID/members" */
export function routeOf({ method, path }: Call): string {
  const route = (path.split("?")[0] ?? "").replace(/^.*\/(?:v2\.0|v2\.1|lbaas)(?=\/)/, "");
  return `${method} ${route.replaceAll(id, "ID")}`;
}

/** A function that returns the calls since its last use that write, or that read single objects or their parts. */
export function workIn(calls: readonly Call[]): () => string[] {
  let seen = 0;
  return () => {
    const fresh = calls.slice(seen).filter((call) => !call.path.includes("/auth/tokens"));
    seen = calls.length;
    return fresh.map(routeOf).filter((route) => !route.startsWith("GET") || route.includes("/ID"));
  };
}
