import { Command, Option } from "@commander-js/extra-typings";
import { logLevelOption } from "../../options/logging.ts";
import { SECRET_VARIABLES } from "./secret-variables.ts";

/** What `causeway keystone-token` is given. */
export type KeystoneTokenFlags = ReturnType<ReturnType<typeof options>["opts"]>;

/** The credential plugin of kubectl. */
export function keystoneTokenCommand() {
  return options()
    .addHelpText(
      "after",
      `
The credentials are those of --cloud or OS_CLOUD in clouds.yaml, with what the entry lacks from the
OS_ variables; else of the OS_ variables; else of the only entry. Flags win over all of them. On a
terminal it asks for what is missing, unless --cloud or OS_CLOUD is given. The token is kept until
it expires in a file that only you may read.

With --for-kubeconfig the other flags become arguments of the kubeconfig's exec entry, and secrets
its environment. Variables are read when kubectl starts it.

Examples:
  causeway keystone-token --cloud prod
  causeway keystone-token --cloud prod --project-name shop --for-kubeconfig admin.conf > mine.conf
  kubectl --kubeconfig mine.conf get pods`,
    )
    .action(async (given) => (await import("./action.ts")).printKeystoneToken(given));
}

function options() {
  return new Command("keystone-token")
    .description(
      "Print a Keystone token for kubectl, as credential plugin (client.authentication.k8s.io/v1 and v1beta1).",
    )
    .option(
      "--cloud, --os-cloud <name>",
      "entry of clouds.yaml (default: OS_CLOUD, else the OS_ variables, else the only entry)",
    )
    .option("--for-kubeconfig <file>", "print this kubeconfig with this command as its user, and no token")
    .option("--no-cache", "get a new token each time")
    .option("--keystone-url <url>", "Keystone v3 (OS_AUTH_URL)")
    .option("--domain-name <name>", "domain of the user and the project (OS_DOMAIN_NAME)")
    .option("--user-name <name>", "user (OS_USERNAME)")
    .option("--project-name <name>", "project (OS_PROJECT_NAME)")
    .addOption(
      new Option(
        "--password <password>",
        "password (OS_PASSWORD); other users of this host see a flag, and not the variable",
      ).env(SECRET_VARIABLES.password),
    )
    .option("--cert <file>", "client certificate (OS_CERT)")
    .option("--key <file>", "its key (OS_KEY)")
    .option("--cacert <file>", "authority of Keystone's certificate (OS_CACERT)")
    .option("--application-credential-id <id>", "application credential (OS_APPLICATION_CREDENTIAL_ID)")
    .option("--application-credential-name <name>", "the same by name (OS_APPLICATION_CREDENTIAL_NAME)")
    .addOption(
      new Option("--application-credential-secret <secret>", "its secret (OS_APPLICATION_CREDENTIAL_SECRET)").env(
        SECRET_VARIABLES.applicationCredentialSecret,
      ),
    )
    .addOption(logLevelOption());
}
