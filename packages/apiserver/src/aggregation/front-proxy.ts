import { createAuthority, issueCertificate, type Clock, type KeyPair } from "@causeway/foundation";
import type { StateFiles } from "../store/state-files.ts";

const YEAR = 365 * 86_400_000;
/** The only name that extension servers believe. */
const FRONT_PROXY = "front-proxy-client";

/** The certificate by which extension API servers recognize requests that this server has authenticated. */
export interface FrontProxy {
  /** Of the authority that extension servers verify the proxy's certificate with. */
  authority(): Promise<KeyPair>;
  /** The proxy's certificate, issued again at half its life. */
  client(): Promise<KeyPair>;
  /** Another authority; of several certificates the first signs, and all are published. */
  replace(given: KeyPair): void;
}

/**
 * The authority of the front proxy, apart from the cluster's own: a client certificate of the cluster, which its users
 * can request, must not pass for the proxy. Made when it is first needed, and kept.
 */
export function openFrontProxy(
  files: StateFiles,
  folder: string,
  { given, clock }: { given: KeyPair | undefined; clock: Clock },
): FrontProxy {
  let authority: Promise<KeyPair> | undefined;
  let issued: { readonly pair: Promise<KeyPair>; readonly until: number } | undefined;
  if (given) keep(files, folder, given);
  const root = (): Promise<KeyPair> => (authority ??= given ? Promise.resolve(given) : keptOrNew(files, folder, clock));
  return {
    authority: root,
    replace(next) {
      keep(files, folder, next);
      authority = Promise.resolve(next);
      issued = undefined;
    },
    client() {
      const now = clock.now();
      if (issued === undefined || now >= issued.until)
        issued = {
          until: now + YEAR / 2,
          pair: root().then((pair) =>
            issueCertificate(pair, { commonName: FRONT_PROXY, usages: ["client"], lifetime: YEAR, now }),
          ),
        };
      return issued.pair;
    },
  };
}

/** The authority of an earlier start. */
export function keptFrontProxy(files: StateFiles, folder: string): KeyPair | undefined {
  const [certificate, key] = [files.read(`${folder}/front-proxy-ca.crt`), files.read(`${folder}/front-proxy-ca.key`)];
  return certificate === undefined || key === undefined ? undefined : { certificate, key };
}

function keep(files: StateFiles, folder: string, { certificate, key }: KeyPair): void {
  for (const [name, content] of [
    ["front-proxy-ca.key", key],
    ["front-proxy-ca.crt", certificate],
  ] as const)
    if (files.read(`${folder}/${name}`) !== content) files.write(`${folder}/${name}`, content);
}

async function keptOrNew(files: StateFiles, folder: string, clock: Clock): Promise<KeyPair> {
  const kept = keptFrontProxy(files, folder);
  if (kept) return kept;
  const made = await createAuthority({ commonName: "front-proxy-ca", lifetime: 10 * YEAR, now: clock.now() });
  keep(files, folder, made);
  return made;
}

/** What extension servers read to know whom to believe. Source: k8s.io/kubernetes, clusterauthenticationtrust. */
export function authenticationData(clientAuthority: string, frontProxy: string): Record<string, string> {
  return {
    "client-ca-file": clientAuthority,
    "requestheader-allowed-names": JSON.stringify([FRONT_PROXY]),
    "requestheader-client-ca-file": frontProxy,
    "requestheader-extra-headers-prefix": JSON.stringify(["X-Remote-Extra-"]),
    "requestheader-group-headers": JSON.stringify(["X-Remote-Group"]),
    "requestheader-uid-headers": JSON.stringify(["X-Remote-Uid"]),
    "requestheader-username-headers": JSON.stringify(["X-Remote-User"]),
  };
}
