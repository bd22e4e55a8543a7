"""What a record says of the machine that it was measured on."""
import datetime
import shutil
import subprocess


def environment():
    if shutil.which("nvidia-smi") is None:
        lines = []
    else:
        lines = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                               capture_output=True, text=True).stdout.splitlines()
    device, _, driver = (lines or ["unknown, unknown"])[0].partition(", ")
    return {"device": device, "driver": driver,
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")}
