# SPDX-License-Identifier: Apache-2.0
"""What is published: reports and the documentation site, made of what the sources and the measured rows say."""
