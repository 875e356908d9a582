"""Requests to the service."""

from typing import Any

from dlt.sources.helpers import requests
from dlt.sources.helpers.rest_client import RESTClient
from dlt.sources.helpers.rest_client.auth import APIKeyAuth
from dlt.sources.helpers.rest_client.paginators import JSONResponseCursorPaginator

USER_AGENT = "export-api-dlt/1.0.0"


def make_client(base_url: str, api_key: str) -> RESTClient:
    """Returns a client of the service at `base_url`, the root of its host.

    It retries 429, 5xx and dropped connections: after `Retry-After` seconds if the response has it, otherwise after
    1 to 15 seconds. It gives up after 30 attempts, which take minutes.
    """
    session = requests.Client(raise_for_status=False, request_max_attempts=30, request_max_retry_delay=15).session
    return RESTClient(
        base_url=f"{base_url.rstrip('/')}/api/export/v1",
        headers={"User-Agent": USER_AGENT},
        auth=APIKeyAuth(name="X-API-Key", api_key=api_key),
        paginator=JSONResponseCursorPaginator(cursor_path="pagination.nextCursor", cursor_param="cursor"),
        data_selector="data",
        session=session,
    )


def check(response: requests.Response, *args: Any, **kwargs: Any) -> None:
    """Raises `HTTPError` with the service's message unless the status is 200.

    Raises `ConnectionError`, which is retried, when the body is cut short: its length is not always declared.
    """
    if response.status_code == 200:
        try:
            response.json()
        except ValueError as error:
            if response.headers.get("Content-Type", "").startswith("application/json"):
                raise requests.ConnectionError("A response is cut short. Run again.", response=response) from error
            raise
        return
    try:
        sentence = response.json()["error"]
    except (ValueError, KeyError, TypeError):
        sentence = response.reason
    raise requests.HTTPError(f"The service responded {response.status_code}: {sentence}", response=response)


def digest_of_brands(response: requests.Response) -> str:
    """Returns what identifies the brands that the key reads."""
    digest = response.headers.get("X-Brands-Digest")
    if digest is None:
        message = "A response has no X-Brands-Digest. Check what is between the service and this program."
        raise requests.HTTPError(message, response=response)
    return digest
