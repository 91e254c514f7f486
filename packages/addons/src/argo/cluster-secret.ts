import { base64, CausewayError, messageOf } from "@causeway/foundation";
import { loadKubeconfig, type ClusterConfig, type ObjectKey, type Secret } from "@causeway/kubernetes";
import { argoLabels, clusterNameOf, clusterSecretName, isOfCluster } from "./names.ts";

/**
 * The Secret from which Argo CD knows a cluster (argoproj.github.io, "Declarative setup", Clusters), with the
 * credentials of the cluster's kubeconfig. Only Applications of `project` may use it.
 *
 * @throws ADDON_ARGO_CD_KUBECONFIG
 */
export function clusterSecretFor(
  cluster: ObjectKey,
  { namespace, project }: { readonly namespace: string; readonly project: string },
  kubeconfig: string,
): Secret {
  const config = read(cluster, kubeconfig);
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      namespace,
      name: clusterSecretName(cluster),
      labels: {
        [argoLabels.secretType]: "cluster",
        [argoLabels.clusterNamespace]: cluster.namespace,
        [argoLabels.cluster]: cluster.name,
      },
    },
    type: "Opaque",
    data: {
      name: base64(clusterNameOf(cluster)),
      server: base64(config.server),
      project: base64(project),
      config: base64(JSON.stringify(connection(config))),
    },
  };
}

function connection({ ca, certificate, key, token, tlsServerName, insecureSkipTlsVerify = false }: ClusterConfig) {
  return {
    ...(token === undefined ? {} : { bearerToken: token }),
    tlsClientConfig: {
      insecure: insecureSkipTlsVerify,
      ...(tlsServerName === undefined ? {} : { serverName: tlsServerName }),
      // Argo CD refuses an authority next to a server that it does not verify.
      ...(ca === undefined || insecureSkipTlsVerify ? {} : { caData: base64(ca) }),
      ...(certificate === undefined || key === undefined
        ? {}
        : { certData: base64(certificate), keyData: base64(key) }),
    },
  };
}

function read({ namespace, name }: ObjectKey, text: string): ClusterConfig {
  let config: ClusterConfig;
  try {
    config = loadKubeconfig({ text, selfContained: true });
  } catch (error) {
    throw refused(`the kubeconfig of Cluster ${namespace}/${name} cannot be read: ${messageOf(error)}`);
  }
  if (config.exec !== undefined)
    throw refused(`the kubeconfig of Cluster ${namespace}/${name} runs a program for its credentials`);
  if (config.token === undefined && (config.certificate === undefined || config.key === undefined))
    throw refused(`the kubeconfig of Cluster ${namespace}/${name} has neither a token nor a certificate with its key`);
  // For this server Argo CD uses the credentials of its own pod, which are of the management cluster.
  if (isInCluster(config.server))
    throw refused(`the kubeconfig of Cluster ${namespace}/${name} names the cluster that Argo CD runs in`);
  return config;
}

const hostOf = (server: string): string => (URL.canParse(server) ? new URL(server).hostname.toLowerCase() : "");

/** "kubernetes.default.svc" and its other spellings. */
function isInCluster(server: string): boolean {
  const [service, namespace = "default"] = hostOf(server).split(".");
  return service === "kubernetes" && namespace === "default";
}

/**
 * Another cluster that Argo CD knows at this server; undefined: none. Argo CD finds clusters by their server: with two
 * of one server it could use the credentials of the other one.
 */
export function otherAtServer(secrets: readonly Secret[], wanted: Secret, cluster: ObjectKey): Secret | undefined {
  const server = serverOf(wanted);
  return secrets.find(
    (secret) =>
      secret.metadata.namespace === wanted.metadata.namespace &&
      !isOfCluster(secret, cluster) &&
      serverOf(secret) === server,
  );
}

function serverOf({ data }: Secret): string {
  const text = Buffer.from(data?.["server"] ?? "", "base64").toString();
  return URL.canParse(text) ? new URL(text).href.replace(/\/+$/, "") : text;
}

function refused(why: string): CausewayError {
  return new CausewayError("ADDON_ARGO_CD_KUBECONFIG", why, {
    hint: "Argo CD needs a kubeconfig with a certificate or a token in it.",
  });
}
