// The release of openstack-resource-controller whose own suites `npm run test:orc` runs.
module causeway.invalid/orc

go 1.25.0

tool github.com/k-orc/openstack-resource-controller/v2/cmd/manager

require github.com/k-orc/openstack-resource-controller/v2 v2.6.0
