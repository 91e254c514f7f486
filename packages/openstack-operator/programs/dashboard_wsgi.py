"""The dashboard's application, with the settings of local_settings.py wherever its image has its own."""
import os
import sys

import openstack_dashboard

# The dashboard's own settings read the module "local.local_settings", with the folder of its package on the path.
sys.path.append(os.path.dirname(openstack_dashboard.__file__))
import local  # noqa: E402
import local_settings  # noqa: E402

sys.modules["local.local_settings"] = local.local_settings = local_settings
os.environ["DJANGO_SETTINGS_MODULE"] = "openstack_dashboard.settings"

from django.core.wsgi import get_wsgi_application  # noqa: E402

application = get_wsgi_application()
