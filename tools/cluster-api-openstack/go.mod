// The release of Cluster API's OpenStack provider that `npm run test:programs` runs on the simulated cloud.
module causeway.invalid/cluster-api-openstack

go 1.25.0

tool sigs.k8s.io/cluster-api-provider-openstack

require (
	sigs.k8s.io/cluster-api-provider-openstack v0.14.7
)
