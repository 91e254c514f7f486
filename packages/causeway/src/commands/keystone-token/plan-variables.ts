/** OS_ variables, of the environment, an entry of clouds.yaml, or flags. An empty one counts as absent. */
export type Variables = Readonly<Record<string, string | undefined>>;

const PROJECT = ["OS_PROJECT_NAME", "OS_PROJECT_ID", "OS_TENANT_NAME", "OS_TENANT_ID"];
const USER = ["OS_USERNAME", "OS_USER_ID", "OS_USER_NAME"];
const DOMAIN = [
  "OS_DOMAIN_NAME",
  "OS_DOMAIN_ID",
  "OS_DEFAULT_DOMAIN",
  "OS_DEFAULT_DOMAIN_NAME",
  "OS_DEFAULT_DOMAIN_ID",
];
const USER_DOMAIN = ["OS_USER_DOMAIN_NAME", "OS_USER_DOMAIN_ID"];
const PROJECT_DOMAIN = ["OS_PROJECT_DOMAIN_NAME", "OS_PROJECT_DOMAIN_ID"];
const CREDENTIAL = ["OS_APPLICATION_CREDENTIAL_ID", "OS_APPLICATION_CREDENTIAL_NAME"];
const SECRET = "OS_APPLICATION_CREDENTIAL_SECRET";
const OTHER_PROOFS = ["OS_TOKEN", "OS_ACCESS_TOKEN", "OS_PASSCODE"];

/** The variables that a variable replaces when it has precedence. */
const REPLACED: Readonly<Record<string, readonly string[]>> = {
  OS_PROJECT_NAME: PROJECT,
  OS_USERNAME: USER,
  OS_DOMAIN_NAME: [...DOMAIN, ...USER_DOMAIN, ...PROJECT_DOMAIN],
  OS_APPLICATION_CREDENTIAL_ID: CREDENTIAL,
  OS_APPLICATION_CREDENTIAL_NAME: CREDENTIAL,
};

/**
 * `flags` above `below`: a flag replaces whatever means the same (a project's name its id, a domain those of user and
 * project), and the proof of one kind those of other kinds. Pure.
 */
export function withFlags(below: Variables, flags: Variables): Record<string, string> {
  const given = present(flags);
  const result = present(below);
  for (const name of Object.keys(given)) drop(result, REPLACED[name] ?? []);
  if ([SECRET, ...CREDENTIAL].some((name) => given[name] !== undefined)) {
    drop(result, [...PROJECT, ...OTHER_PROOFS, "OS_PASSWORD", "OS_TRUST_ID"]);
    result["OS_AUTH_TYPE"] = "v3applicationcredential";
  } else if (given["OS_PASSWORD"] !== undefined) {
    drop(result, [SECRET, ...CREDENTIAL, ...OTHER_PROOFS]);
    result["OS_AUTH_TYPE"] = "v3password";
  }
  return { ...result, ...given };
}

/**
 * An entry of clouds.yaml with what it lacks from the environment, as the openstack client has it: the entry wins over
 * the variables. Pure.
 */
export function withEnvironment(entry: Variables, env: Variables): Record<string, string> {
  const result = present(entry);
  const given = present(env);
  const isCredential = CREDENTIAL.some((name) => result[name] !== undefined) || result[SECRET] !== undefined;
  const isPassword = !isCredential && !OTHER_PROOFS.some((name) => result[name] !== undefined);
  const shared = result["OS_DOMAIN_NAME"] ?? result["OS_DOMAIN_ID"] ?? result["OS_DEFAULT_DOMAIN"];
  const groups = [
    ["OS_AUTH_URL"],
    ["OS_CACERT"],
    ["OS_CERT", "OS_KEY"],
    ...(isCredential ? [CREDENTIAL, [SECRET]] : []),
    ...(isPassword ? [USER, ["OS_PASSWORD"], PROJECT] : []),
    ...(isPassword && shared === undefined ? [[...USER_DOMAIN, ...DOMAIN], PROJECT_DOMAIN] : []),
  ];
  for (const group of groups) {
    if (group.some((name) => result[name] !== undefined)) continue;
    for (const name of group) {
      const value = given[name];
      if (value !== undefined) result[name] = value;
    }
  }
  return result;
}

function present(variables: Variables): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) if (value !== undefined && value !== "") found[name] = value;
  return found;
}

function drop(variables: Record<string, string>, names: readonly string[]): void {
  for (const name of names) delete variables[name];
}
