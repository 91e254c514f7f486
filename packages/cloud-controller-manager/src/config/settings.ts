/** One key of cloud.conf, as cloud-provider-openstack documents it. */
export interface Setting {
  /** What is written there, in words. */
  readonly form: string;
  /** What holds without it; undefined: nothing. */
  readonly default?: string;
  readonly meaning: string;
}

const placement: Readonly<Record<string, Setting>> = {
  "network-id": { form: "text", meaning: "The network of the VIP." },
  "subnet-id": { form: "text", meaning: "The subnet of the VIP." },
  "member-subnet-id": { form: "text", meaning: "The subnet in which the load balancer reaches the nodes." },
  "floating-network-id": {
    form: "text",
    default: "the first external one with an IPv4 subnet",
    meaning: "The external network of floating IPs.",
  },
  "floating-subnet-id": { form: "text", meaning: "The external subnet of floating IPs." },
  "floating-subnet": {
    form: "text",
    meaning:
      'Name of external subnets: a pattern with *, "~" before a regular expression, "!" before what is not meant.',
  },
  "floating-subnet-tags": {
    form: "list",
    meaning: 'Tags of external subnets: any of them, all with "&" before, none with "!".',
  },
};

/**
 * Every section and key of cloud.conf: the source of the warnings about unknown ones, and of
 * docs/reference/cloud-conf.md. A section without keys is another program's and is not read.
 */
export const settings: Readonly<Record<string, Readonly<Record<string, Setting>> | undefined>> = {
  Global: {
    "auth-url": { form: "text", meaning: "Keystone's address, with /v3." },
    username: { form: "text", meaning: "With a password: the user's name." },
    "user-id": { form: "text", meaning: "The user's id, in place of name and domain." },
    password: { form: "text", meaning: "The user's password." },
    token: { form: "text", meaning: "A token in place of a password; it cannot be renewed." },
    region: { form: "text", default: "the catalog's only one", meaning: "The region whose endpoints are used." },
    "os-endpoint-type": {
      form: "choice: public, internal, admin",
      default: "public",
      meaning: "Which of a service's endpoints are called.",
    },
    "tls-insecure": {
      form: "flag",
      default: "false",
      meaning: "Certificates of the cloud are not checked. For tests only.",
    },
    "tenant-id": { form: "text", meaning: "The project's id." },
    "tenant-name": { form: "text", meaning: "The project's name, with a domain." },
    "tenant-domain-id": { form: "text", default: "domain-id", meaning: "The project's domain." },
    "tenant-domain-name": { form: "text", default: "domain-name", meaning: "The project's domain, by name." },
    "user-domain-id": { form: "text", default: "domain-id", meaning: "The user's domain." },
    "user-domain-name": { form: "text", default: "domain-name", meaning: "The user's domain, by name." },
    "domain-id": { form: "text", meaning: "The domain of user and project." },
    "domain-name": { form: "text", meaning: "The domain of user and project, by name." },
    "trust-id": { form: "text", meaning: "A trust whose project and roles are used." },
    "trustee-id": { form: "text", meaning: "The user to whom the trust was given." },
    "trustee-password": { form: "text", meaning: "That user's password." },
    "ca-file": {
      form: "path",
      default: "the system's",
      meaning: "The authorities that the cloud's certificates are checked with.",
    },
    "cert-file": { form: "path", meaning: "A client certificate for the cloud." },
    "key-file": { form: "path", meaning: "The key of the client certificate." },
    "use-clouds": { form: "flag", default: "false", meaning: "Credentials come from a clouds.yaml." },
    "clouds-file": { form: "path", default: "the default of the openstack client", meaning: "That clouds.yaml." },
    cloud: { form: "text", meaning: "The entry of clouds.yaml." },
    "application-credential-id": { form: "text", meaning: "An application credential, by id." },
    "application-credential-name": { form: "text", meaning: "An application credential, by its name and its user." },
    "application-credential-secret": { form: "text", meaning: "The application credential's secret." },
  },
  Networking: {
    "ipv6-support-disabled": { form: "flag", default: "false", meaning: "Nodes get no IPv6 address." },
    "public-network-name": {
      form: "texts",
      meaning: "Networks whose addresses are ExternalIP. May be given several times.",
    },
    "internal-network-name": {
      form: "texts",
      meaning: "Networks whose addresses are InternalIP. May be given several times.",
    },
    "address-sort-order": { form: "list of CIDRs", meaning: "The order of a node's addresses, the most wanted first." },
  },
  Route: {
    "router-id": { form: "text", meaning: "The Neutron router that carries routes to pods; without it, none does." },
  },
  Metadata: {
    "search-order": {
      form: "list: configDrive, metadataService",
      default: "configDrive,metadataService",
      meaning: "Where a server's id is read.",
    },
    "request-timeout": {
      form: "duration",
      default: "1m",
      meaning: "How long one request to the metadata service may take.",
    },
  },
  LoadBalancer: {
    ...placement,
    enabled: { form: "flag", default: "true", meaning: "Services of type LoadBalancer are served." },
    "lb-version": { form: "choice: v2", default: "v2", meaning: "Only Octavia's version is there." },
    "lb-method": {
      form: "choice: ROUND_ROBIN, LEAST_CONNECTIONS, SOURCE_IP, SOURCE_IP_PORT",
      default: "ROUND_ROBIN; SOURCE_IP_PORT on OVN",
      meaning: "How connections are shared among members.",
    },
    "lb-provider": {
      form: "text",
      default: "amphora, else ovn, else the first listed",
      meaning: "Octavia's provider.",
    },
    "use-octavia": {
      form: "flag",
      default: "true",
      meaning: "Read for files of earlier releases; there is nothing but Octavia.",
    },
    "internal-lb": { form: "flag", default: "false", meaning: "No Service gets a floating IP." },
    "node-selector": { form: "list", meaning: "Labels of the nodes that are members: key=value, or key alone." },
    "create-monitor": { form: "flag", default: "false", meaning: "Members are monitored." },
    "monitor-delay": { form: "duration", default: "5s", meaning: "Between two probes." },
    "monitor-timeout": { form: "duration", default: "3s", meaning: "Until a probe has failed." },
    "monitor-max-retries": {
      form: "number",
      default: "1",
      meaning: "Probes in a row after which a member is healthy.",
    },
    "monitor-max-retries-down": {
      form: "number",
      default: "3",
      meaning: "Failed probes in a row after which a member is not healthy.",
    },
    "manage-security-groups": {
      form: "flag",
      default: "false",
      meaning: "A security group for each Service lets its node ports in.",
    },
    "cascade-delete": {
      form: "flag",
      default: "true",
      meaning: "One call deletes a load balancer with all of its parts.",
    },
    "flavor-id": { form: "text", meaning: "Octavia's flavor." },
    "availability-zone": { form: "text", meaning: "Octavia's availability zone." },
    "max-shared-lb": { form: "number", default: "2", meaning: "How many Services may share one load balancer." },
    "enable-ingress-hostname": {
      form: "flag",
      default: "false",
      meaning:
        "With the PROXY protocol the status has a hostname, so that traffic inside the cluster passes the load balancer.",
    },
    "ingress-hostname-suffix": { form: "text", default: "nip.io", meaning: "The end of that hostname." },
    "container-store": {
      form: "choice: barbican, external",
      default: "barbican",
      meaning: "Where TLS certificates are; external ones are not looked up.",
    },
    "default-tls-container-ref": {
      form: "text",
      meaning: "Barbican's reference to a certificate: TLS ends at the load balancers.",
    },
    "provider-requires-serial-api-calls": {
      form: "flag",
      default: "false",
      meaning: "The provider takes no populated create and no batch of members.",
    },
    "follow-nodes": {
      form: "flag",
      default: "false",
      meaning:
        "An addition: a new node is a member once its kube-proxy is Ready, and annotation causeway.dev/load-balancers of a node says when it has left.",
    },
  },
  LoadBalancerClass: placement,
  BlockStorage: undefined,
};
